import { ANNOTATION_TEXT_MAX, type AnnotationRecord } from "../../../../schemas/contracts/annotation.js";
import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import { dateAt } from "../../../../schemas/date-range.js";
import { path } from "../../address.js";
import { type Submitted, type Visit, mayManage, page, useVisit } from "../../page.js";
import { Button, ConfirmButton, CopyLine, Field, Form, Select } from "../../parts/form.js";
import { formatDate } from "../../parts/format.js";
import { Badge, EmptyState, PageHead, Panel } from "../../parts/panel.js";
import { Pager, Table } from "../../parts/table.js";
import { type Form as Sent, faultsAt } from "../../read-form.js";
import { packagesOf } from "../artifacts-of.js";
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
  title: (_, { owner }) => `Notes of ${owner.name}`,
  render: (list) => <Annotations {...list} />,
  submit: change,
  notices: {
    created: "The note is on the charts.",
    deleted: "The note was deleted.",
    "secret-ended": "No release event is taken any more.",
  },
});

function Annotations({ annotations, next, packages }: AnnotationList) {
  const { owner } = useVisit();
  return (
    <>
      <PageHead
        title="Notes"
        guide="annotations"
        about="What happened on a day, such as a release: shown on the charts of packages."
      />
      <SettingsTabs current="annotations" />
      {annotations.length === 0 ? (
        <EmptyState title="There is no note yet" />
      ) : (
        <Panel title="Notes">
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
      caption="Notes"
      isStacked
      columns={[
        { name: "Day" },
        { name: "Note" },
        { name: "Package" },
        ...(mayManage(owner) ? [{ name: "Change", isUnnamed: true }] : []),
      ]}
      rows={annotations.map(({ id, date, end_date: end, text, url, kind, package_id: of }) => [
        end === undefined ? formatDate(date) : `${formatDate(date)} to ${formatDate(end)}`,
        <>
          {url === undefined ? (
            <bdi>{text}</bdi>
          ) : (
            <a href={url} rel="noopener noreferrer">
              <bdi>{text}</bdi>
            </a>
          )}{" "}
          {kind === "release" && <Badge>release</Badge>}
        </>,
        of === undefined ? "All" : <bdi>{names.get(of) ?? ""}</bdi>,
        ...(mayManage(owner)
          ? [
              <ConfirmButton
                action={`delete ${id}`}
                label="Delete"
                question="It leaves the charts of everybody."
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
    <Panel title="New note">
      <Form action="create">
        <Field name="date" label="Day" type="date" value={dateAt(Date.now())} required />
        <Field name="end_date" label="Last day" type="date" hint="For what took several days." />
        <Field name="text" label="Text" required hint={`At most ${ANNOTATION_TEXT_MAX} characters.`} />
        <Field name="url" label="Address" type="url" placeholder="https://example.org/blog/1.5" />
        <Select
          name="package"
          label="Package"
          value={query.get("package") ?? ""}
          options={[
            { value: "", label: "All" },
            ...packages.map(({ uuid, name }) => ({ value: uuid, label: name })),
          ]}
        />
        <Button>Add note</Button>
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
    <Panel title="Releases from GitHub">
      <p>
        In the settings of a repository, under Webhooks, add this address with the content type
        application/json, the secret, and the event Releases alone. With <code>?package=</code> and a name
        releases are of one package.
      </p>
      <CopyLine label="The address for GitHub" text={address} />
      {madeSecret !== undefined && (
        <>
          <p role="status">The secret, which is shown this once:</p>
          <CopyLine label="The secret for GitHub" text={madeSecret} />
        </>
      )}
      <div class="actions">
        <ConfirmButton
          action="make-secret"
          label="Make a secret"
          question="One that was made before ends at once."
        />
        <ConfirmButton
          action="end-secret"
          label="End the secret"
          question="Release events are then refused."
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
