import { SOURCE_KINDS, type SourceRecord } from "../../../schemas/contracts/source.js";
import { Problem } from "../../../schemas/problem.js";
import { REGISTRIES, REGISTRY_TITLES } from "../../features/sources/registries/registries.js";
import { parseRegistryUrl } from "../../features/sources/parse-registry-url.js";
import { path } from "../../web/address.js";
import { type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { Button, ConfirmButton, Field, Form } from "../../web/parts/form.js";
import { Badge, Panel } from "../../web/parts/panel.js";
import { formatDays } from "../../web/parts/format.js";
import { Time } from "../../web/parts/time.js";
import { Table } from "../../web/parts/table.js";
import { type Form as Sent, NOTHING_SAVED, faultsAt } from "../../web/read-form.js";
import {
  ActionButton,
  PackageSelect,
  type RecordList,
  SettingsList,
  backTo,
  changeRecord,
  listOf,
  loadRecords,
  packageName,
} from "./settings-list.js";

type SourceList = RecordList<SourceRecord>;

export const sourcesPage = page<SourceList>({
  path: "/o/:owner/settings/sources",
  section: "settings",
  load: (visit) => loadRecords(visit, "sources"),
  title: (_, { owner }) => `Registry counts · ${owner.name}`,
  render: (list) => <Sources list={list} />,
  submit: change,
  notices: {
    created: "Registry added. Fetching its counts…",
    due: "Fetching counts. Refresh in a moment.",
    changed: "Registry saved.",
    deleted: "Registry and its counts deleted.",
  },
});

function Sources({ list }: { list: SourceList }) {
  const { owner } = useVisit();
  return (
    <SettingsList
      tab="sources"
      title="Registry counts"
      guide="sources"
      about="Counts from package registries, fetched daily and shown next to your own."
      list={list}
      name="Registries"
      table={<SourceTable list={list} />}
      empty={{
        title: "No registries yet",
        text: `Add a package on ${REGISTRY_TITLES} below.`,
      }}
    >
      {mayManage(owner) && <NewSource packages={list.packages} />}
    </SettingsList>
  );
}

function SourceTable({ list: { records, packages } }: { list: SourceList }) {
  const { owner } = useVisit();
  return (
    <Table
      caption="Registries"
      isStacked
      columns={[
        "Registry",
        "Package",
        "Status",
        "Period",
        ...(mayManage(owner) ? [{ name: "Actions", isUnnamed: true }] : []),
      ]}
      rows={records.map((source) => [
        <>
          <a href={REGISTRIES[source.kind].pageOf(source.name)} rel="noreferrer">
            <bdi>{source.name}</bdi>
          </a>{" "}
          <span class="soft">{source.kind}</span>
        </>,
        packageName(packages, source.package_id),
        <State source={source} />,
        source.first_date === undefined
          ? ""
          : formatDays(source.first_date, source.last_date ?? source.first_date),
        ...(mayManage(owner) ? [<Changes source={source} />] : []),
      ])}
    />
  );
}

function State({ source: { enabled, last_error: error, last_success_at: at } }: { source: SourceRecord }) {
  if (!enabled) return <Badge>Disabled</Badge>;
  if (error !== undefined)
    return (
      <>
        <Badge kind="bad">Failed</Badge> {error}
      </>
    );
  return at === undefined ? (
    <Badge kind="busy">Fetching</Badge>
  ) : (
    <Badge kind="good">
      Fetched <Time at={at} />
    </Badge>
  );
}

function Changes({ source: { id, enabled } }: { source: SourceRecord }) {
  return (
    <div class="actions">
      {enabled && <ActionButton action={`run ${id}`} label="Fetch now" />}
      <ActionButton
        action={`${enabled ? "disable" : "enable"} ${id}`}
        label={enabled ? "Disable" : "Enable"}
      />
      <ConfirmButton
        action={`delete ${id}`}
        label="Delete"
        question="Deletes all of its counts, including days that the registry itself no longer has."
      />
    </div>
  );
}

function NewSource({ packages }: Pick<SourceList, "packages">) {
  return (
    <Panel title="Add registry">
      <Form action="create">
        <Field
          name="page"
          label="Package URL"
          required
          placeholder="https://www.npmjs.com/package/left-pad"
          hint={`You can also enter a registry and a name, such as npm @acme/tool. Registries: ${SOURCE_KINDS.join(", ")}.`}
        />
        <PackageSelect
          label="Show on package"
          none="None"
          packages={packages}
          hint="The package page will show these counts next to your own."
        />
        <Button>Add registry</Button>
      </Form>
    </Panel>
  );
}

async function change(visit: Visit, form: Sent): Promise<{ to: string }> {
  const { api } = visit;
  const list = listOf(visit, "sources");
  const [verb = "", id = ""] = form.action.split(" ");
  if (verb === "create") {
    const body = { ...namedBy(form), package: form.optional("package") };
    const fields = { "unknown-name": "page", "already-exists": "page", "too-many-sources": "page" };
    await faultsAt(fields, api({ method: "POST", path: list, body }));
    return backTo(visit, "sources", "created");
  }
  if (verb !== "run") return changeRecord(visit, form, "sources");
  await api({ method: "POST", path: list + path`/${id}/run` });
  return backTo(visit, "sources", "due");
}

/** The address of a page, or `kind name`. */
function namedBy(form: Sent): { kind: string; name: string } {
  const text = form.text("page");
  const [kind = "", ...name] = text.split(/\s+/);
  const found = parseRegistryUrl(text) ?? { kind, name: name.join(" ") };
  if (SOURCE_KINDS.some((each) => each === found.kind)) return found;
  throw new Problem("invalid-body", NOTHING_SAVED, {
    errors: [
      {
        path: "/page",
        message: "must be the URL of a package on a registry, or a registry and a name such as npm left-pad",
      },
    ],
  });
}
