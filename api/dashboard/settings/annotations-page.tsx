import { ANNOTATION_TEXT_MAX, type AnnotationRecord } from "../../../schemas/contracts/annotation.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { dateAt } from "../../../schemas/date-range.js";
import { path } from "../../web/address.js";
import { type Submitted, type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { Button, ConfirmButton, CopyLine, Field, Form, Select } from "../../web/parts/form.js";
import { formatDate, formatDays } from "../../web/parts/format.js";
import { Badge, EmptyState, PageHead, Panel } from "../../web/parts/panel.js";
import { Pager, Table } from "../../web/parts/table.js";
import { type Form as Sent, faultsAt } from "../../web/read-form.js";
import { packagesOf } from "../../web/artifacts-of.js";
import { SettingsTabs } from "./settings-tabs.js";

interface AnnotationList {
  annotations: AnnotationRecord[];
  next?: string;
  packages: readonly PackageV1[];
}

export const annotationsPage = page<AnnotationList>({
  path: "/o/:owner/settings/annotations",
  section: "settings",
  async load(visit) {
    const { api, owner, query } = visit;
    const [list, packages] = await Promise.all([
      api<{ annotations: AnnotationRecord[]; next?: string }>({
        path: path`/v2/${owner.name}/annotations`,
        query: { after: query.get("after") ?? undefined, per_page: 50 },
      }),
      packagesOf(visit),
    ]);
    return { ...list, packages };
  },
  title: (_, { owner }) => `Annotations · ${owner.name}`,
  render: (list) => <Annotations {...list} />,
  submit: change,
  notices: {
    created: "Annotation added.",
    deleted: "Annotation deleted.",
    "secret-ended": "Secret revoked. Release events are no longer accepted.",
  },
});

function Annotations({ annotations, next, packages }: AnnotationList) {
  const { owner } = useVisit();
  return (
    <>
      <PageHead
        title="Annotations"
        guide="annotations"
        about="Mark releases and other events on your charts."
      />
      <SettingsTabs current="annotations" />
      {annotations.length === 0 ? (
        <EmptyState title="No annotations yet">
          <p>Add one below, or let GitHub add one for each release.</p>
        </EmptyState>
      ) : (
        <Panel title="Annotations">
          <AnnotationTable annotations={annotations} packages={packages} />
        </Panel>
      )}
      <Pager next={next} />
      {mayManage(owner) && <NewNote packages={packages} />}
      {mayManage(owner) && <Releases />}
    </>
  );
}

function AnnotationTable({ annotations, packages }: Pick<AnnotationList, "annotations" | "packages">) {
  const { owner } = useVisit();
  const names = new Map(packages.map(({ uuid, name }) => [uuid, name]));
  return (
    <Table
      caption="Annotations"
      isStacked
      columns={[
        { name: "Date" },
        { name: "Annotation" },
        { name: "Package" },
        ...(mayManage(owner) ? [{ name: "Actions", isUnnamed: true }] : []),
      ]}
      rows={annotations.map(({ id, date, end_date: end, text, url, kind, package_id: of }) => [
        end === undefined ? formatDate(date) : formatDays(date, end),
        <>
          {url === undefined ? (
            <bdi>{text}</bdi>
          ) : (
            <a href={url} rel="noopener noreferrer">
              <bdi>{text}</bdi>
            </a>
          )}{" "}
          {kind === "release" && <Badge>Release</Badge>}
        </>,
        of === undefined ? "All packages" : <bdi>{names.get(of) ?? ""}</bdi>,
        ...(mayManage(owner)
          ? [
              <ConfirmButton
                action={`delete ${id}`}
                label="Delete"
                question="Removes this annotation from everyone's charts."
              />,
            ]
          : []),
      ])}
    />
  );
}

function NewNote({ packages }: Pick<AnnotationList, "packages">) {
  const { query } = useVisit();
  return (
    <Panel title="New annotation">
      <Form action="create">
        <Field name="date" label="Date" type="date" value={dateAt(Date.now())} required />
        <Field
          name="end_date"
          label="End date"
          type="date"
          hint="Optional. For events that last several days."
        />
        <Field name="text" label="Text" required hint={`Up to ${ANNOTATION_TEXT_MAX} characters.`} />
        <Field
          name="url"
          label="Link"
          type="url"
          placeholder="https://example.org/blog/1.5"
          hint="Optional."
        />
        <Select
          name="package"
          label="Package"
          value={query.get("package") ?? ""}
          options={[
            { value: "", label: "All packages" },
            ...packages.map(({ uuid, name }) => ({ value: uuid, label: name })),
          ]}
        />
        <Button>Add annotation</Button>
      </Form>
    </Panel>
  );
}

/** A secret is shown in the answer to its form alone. */
function Releases() {
  const { ctx, owner, shown } = useVisit();
  const { madeSecret } = (shown ?? {}) as { madeSecret?: string };
  const address = `${ctx.state.publicBase}${path`/v2/${owner.name}/annotations/github`}`;
  return (
    <Panel title="GitHub releases">
      <p>
        In your repository's settings, under Webhooks, add this URL with the content type application/json,
        the secret, and only the Releases event. Add <code>?package=NAME</code> to attach releases to one
        package.
      </p>
      <CopyLine label="Payload URL for GitHub" text={address} />
      {madeSecret !== undefined && (
        <>
          <p role="status">Secret created. Copy it now: it won't be shown again.</p>
          <CopyLine label="Secret for GitHub" text={madeSecret} />
        </>
      )}
      <div class="actions">
        <ConfirmButton
          action="make-secret"
          label="Create secret"
          question="An existing secret stops working immediately."
        />
        <ConfirmButton
          action="end-secret"
          label="Revoke secret"
          question="Release events will be rejected until you create a new secret."
        />
      </div>
    </Panel>
  );
}

async function change({ api, owner, href }: Visit, form: Sent): Promise<Submitted> {
  const back = (notice: string) => ({ to: href(path`/o/${owner.name}/settings/annotations`, { notice }) });
  const secretAt = path`/v2/${owner.name}/annotation-secret`;
  if (form.action === "make-secret") {
    const { secret } = await api<{ secret: string }>({ method: "POST", path: secretAt });
    return { shown: { madeSecret: secret } };
  }
  if (form.action === "end-secret") {
    await api({ method: "DELETE", path: secretAt });
    return back("secret-ended");
  }
  const list = path`/v2/${owner.name}/annotations`;
  const [verb = "", id = ""] = form.action.split(" ");
  if (verb === "delete") {
    await api({ method: "DELETE", path: list + path`/${id}` });
    return back("deleted");
  }
  const optional = Object.fromEntries(
    ["end_date", "url", "package"].map((name) => [name, form.optional(name)] as const),
  );
  const body = { date: form.text("date"), text: form.text("text"), ...optional };
  await faultsAt({ "too-many-annotations": "text" }, api({ method: "POST", path: list, body }));
  return back("created");
}
