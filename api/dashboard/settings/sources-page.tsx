import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { SOURCE_KINDS, type SourceRecord } from "../../../schemas/contracts/source.js";
import { Problem } from "../../../schemas/problem.js";
import { REGISTRIES } from "../../features/sources/registries/registries.js";
import { sourceAt } from "../../features/sources/source-at.js";
import { path } from "../../web/address.js";
import { type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { Button, ConfirmButton, Field, Form, Select } from "../../web/parts/form.js";
import { Badge, EmptyState, PageHead, Panel } from "../../web/parts/panel.js";
import { formatDays } from "../../web/parts/format.js";
import { Time } from "../../web/parts/time.js";
import { Pager, Table } from "../../web/parts/table.js";
import { type Form as Sent, NOTHING_SAVED, faultsAt } from "../../web/read-form.js";
import { packagesOf } from "../../web/artifacts-of.js";
import { SettingsTabs } from "./settings-tabs.js";

interface SourceList {
  sources: SourceRecord[];
  next?: string;
  packages: readonly PackageV1[];
}

export const sourcesPage = page<SourceList>({
  path: "/o/:owner/settings/sources",
  section: "settings",
  async load(visit) {
    const { api, owner, query } = visit;
    const [list, packages] = await Promise.all([
      api<{ sources: SourceRecord[]; next?: string }>({
        path: path`/v2/${owner.name}/sources`,
        query: { after: query.get("after") ?? undefined, per_page: 50 },
      }),
      packagesOf(visit),
    ]);
    return { ...list, packages };
  },
  title: (_, { owner }) => `Registry counts · ${owner.name}`,
  render: (list) => <Sources {...list} />,
  submit: change,
  notices: {
    created: "Registry added. Fetching its counts…",
    due: "Fetching counts. Refresh in a moment.",
    changed: "Registry saved.",
    deleted: "Registry and its counts deleted.",
  },
});

function Sources({ sources, next, packages }: SourceList) {
  const { owner } = useVisit();
  return (
    <>
      <PageHead
        title="Registry counts"
        guide="sources"
        about="Counts from package registries, fetched daily and shown next to your own."
      />
      <SettingsTabs current="sources" />
      {sources.length === 0 ? (
        <EmptyState title="No registries yet">
          <p>Add a package on npm, PyPI, Docker Hub, GitHub, crates.io, RubyGems or Homebrew below.</p>
        </EmptyState>
      ) : (
        <Panel title="Registries">
          <SourceTable sources={sources} packages={packages} />
        </Panel>
      )}
      <Pager next={next} />
      {mayManage(owner) && <NewSource packages={packages} />}
    </>
  );
}

function SourceTable({ sources, packages }: Pick<SourceList, "sources" | "packages">) {
  const { owner } = useVisit();
  const names = new Map(packages.map(({ uuid, name }) => [uuid, name]));
  return (
    <Table
      caption="Registries"
      isStacked
      columns={[
        { name: "Registry" },
        { name: "Package" },
        { name: "Status" },
        { name: "Period" },
        ...(mayManage(owner) ? [{ name: "Actions", isUnnamed: true }] : []),
      ]}
      rows={sources.map((source) => [
        <>
          <a href={REGISTRIES[source.kind].pageOf(source.name)} rel="noreferrer">
            <bdi>{source.name}</bdi>
          </a>{" "}
          <span class="soft">{source.kind}</span>
        </>,
        <bdi>{names.get(source.package_id ?? "") ?? ""}</bdi>,
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
      {enabled && (
        <Form action={`run ${id}`}>
          <Button kind="quiet">Fetch now</Button>
        </Form>
      )}
      <Form action={`${enabled ? "disable" : "enable"} ${id}`}>
        <Button kind="quiet">{enabled ? "Disable" : "Enable"}</Button>
      </Form>
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
          hint={`Or a registry and a name, such as npm @acme/tool. Registries: ${SOURCE_KINDS.join(", ")}.`}
        />
        <Select
          name="package"
          label="Show on package"
          options={[
            { value: "", label: "None" },
            ...packages.map(({ uuid, name }) => ({ value: uuid, label: name })),
          ]}
          hint="The package page will show these counts next to your own."
        />
        <Button>Add registry</Button>
      </Form>
    </Panel>
  );
}

async function change({ api, owner, href }: Visit, form: Sent): Promise<{ to: string }> {
  const list = path`/v2/${owner.name}/sources`;
  const back = (notice: string) => ({ to: href(path`/o/${owner.name}/settings/sources`, { notice }) });
  const [verb = "", id = ""] = form.action.split(" ");
  if (verb === "create") {
    const body = { ...namedBy(form), package: form.optional("package") };
    const fields = { "unknown-name": "page", "already-exists": "page", "too-many-sources": "page" };
    await faultsAt(fields, api({ method: "POST", path: list, body }));
    return back("created");
  }
  const at = list + path`/${id}`;
  if (verb === "run") {
    await api({ method: "POST", path: `${at}/run` });
    return back("due");
  }
  if (verb === "delete") {
    await api({ method: "DELETE", path: at });
    return back("deleted");
  }
  await api({ method: "PUT", path: at, body: { enabled: verb === "enable" } });
  return back("changed");
}

/** The address of a page, or `kind name`. */
function namedBy(form: Sent): { kind: string; name: string } {
  const text = form.text("page");
  const [kind = "", ...name] = text.split(/\s+/);
  const found = sourceAt(text) ?? { kind, name: name.join(" ") };
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
