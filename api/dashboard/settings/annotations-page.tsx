import { ANNOTATION_TEXT_MAX, type AnnotationRecord } from "../../../schemas/contracts/annotation.js";
import { dateAt } from "../../../schemas/date-range.js";
import { path } from "../../web/address.js";
import { type Submitted, type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { Button, ConfirmButton, CopyLine, Field, Form } from "../../web/parts/form.js";
import { formatDate, formatDays } from "../../web/parts/format.js";
import { Badge, Panel } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";
import { type Form as Sent, faultsAt } from "../../web/read-form.js";
import {
  PackageSelect,
  type RecordList,
  SettingsList,
  backTo,
  changeRecord,
  listOf,
  loadRecords,
  packageName,
} from "./settings-list.js";

type AnnotationList = RecordList<AnnotationRecord>;

export const annotationsPage = page<AnnotationList>({
  path: "/o/:owner/settings/annotations",
  section: "settings",
  load: (visit) => loadRecords(visit, "annotations"),
  title: (_, { owner }) => `Annotations · ${owner.name}`,
  render: (list) => <Annotations list={list} />,
  submit: change,
  notices: {
    created: "Annotation added.",
    deleted: "Annotation deleted.",
    "secret-ended": "Secret revoked. Release events are no longer accepted.",
  },
});

function Annotations({ list }: { list: AnnotationList }) {
  const { owner } = useVisit();
  return (
    <SettingsList
      tab="annotations"
      title="Annotations"
      guide="annotations"
      about="Mark releases and other events on your charts."
      list={list}
      table={<AnnotationTable list={list} />}
      empty={{
        title: "No annotations yet",
        text: "Add one below, or let GitHub add one for each release.",
      }}
    >
      {mayManage(owner) && <NewAnnotation packages={list.packages} />}
      {mayManage(owner) && <Releases />}
    </SettingsList>
  );
}

function AnnotationTable({ list: { records, packages } }: { list: AnnotationList }) {
  const { owner } = useVisit();
  return (
    <Table
      caption="Annotations"
      isStacked
      columns={[
        "Date",
        "Annotation",
        "Package",
        ...(mayManage(owner) ? [{ name: "Actions", isUnnamed: true }] : []),
      ]}
      rows={records.map(({ id, date, end_date: end, text, url, kind, package_id: of }) => [
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
        of === undefined ? "All packages" : packageName(packages, of),
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

function NewAnnotation({ packages }: Pick<AnnotationList, "packages">) {
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
        <PackageSelect
          label="Package"
          none="All packages"
          packages={packages}
          value={query.get("package") ?? ""}
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
          question="Any existing secret stops working immediately."
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

async function change(visit: Visit, form: Sent): Promise<Submitted> {
  const { api, owner } = visit;
  const secretAt = path`/v2/${owner.name}/annotation-secret`;
  if (form.action === "make-secret") {
    const { secret } = await api<{ secret: string }>({ method: "POST", path: secretAt });
    return { shown: { madeSecret: secret } };
  }
  if (form.action === "end-secret") {
    await api({ method: "DELETE", path: secretAt });
    return backTo(visit, "annotations", "secret-ended");
  }
  if (form.action !== "create") return changeRecord(visit, form, "annotations");
  const optional = Object.fromEntries(
    ["end_date", "url", "package"].map((name) => [name, form.optional(name)] as const),
  );
  const body = { date: form.text("date"), text: form.text("text"), ...optional };
  const created = api({ method: "POST", path: listOf(visit, "annotations"), body });
  await faultsAt({ "too-many-annotations": "text" }, created);
  return backTo(visit, "annotations", "created");
}
