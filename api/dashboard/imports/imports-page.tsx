import {
  type EventImport,
  IMPORT_STATUSES,
  type ImportStatus,
  linesDone,
} from "../../../schemas/records/import-store.js";
import { type Query, path } from "../../web/address.js";
import { page, useVisit } from "../../web/page.js";
import { EmptyState, PageHead, Panel, Tabs } from "../../web/parts/panel.js";
import { Time } from "../../web/parts/time.js";
import { formatCount } from "../../web/parts/format.js";
import { Pager, Table } from "../../web/parts/table.js";
import { ImportState, targetName } from "./import-labels.js";

interface ImportList {
  event_imports: EventImport[];
  next?: string;
}

const PER_PAGE = 50;

export const importsPage = page({
  path: "/o/:owner/imports",
  section: "imports",
  load: ({ api, owner, query }) =>
    api<ImportList>({
      path: path`/v2/imports/${owner.name}`,
      query: { ...asked(query), per_page: PER_PAGE },
    }),
  title: (_, { owner }) => `Imports · ${owner.name}`,
  render: ({ event_imports: imports, next }) => <Imports imports={imports} next={next} />,
});

function asked(query: URLSearchParams): Query {
  const names = ["status", "package", "pixel", "after"];
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]));
}

function Imports({ imports, next }: { imports: readonly EventImport[]; next: string | undefined }) {
  const { href, owner, query } = useVisit();
  const chosen = { package: query.get("package") ?? undefined, pixel: query.get("pixel") ?? undefined };
  const upload = href(path`/o/${owner.name}/imports/new`, chosen);
  const isEmpty = imports.length === 0 && [...query.keys()].every((name) => name === "notice");
  if (isEmpty)
    return (
      <>
        <PageHead title="Imports" guide="importing" />
        <EmptyState title="No imports yet">
          <p>
            Import downloads that a registry, a CDN or your own server has logged: access logs, exports, CSV
            or JSON lines.
          </p>
          <p class="actions">
            <a class="button primary" href={upload}>
              Import file
            </a>
          </p>
        </EmptyState>
      </>
    );
  return (
    <>
      <PageHead title="Imports" guide="importing">
        <a class="button primary" href={upload}>
          Import file
        </a>
      </PageHead>
      <StatusTabs />
      <Panel title={titleFor(query)}>
        <Table
          caption="Imports"
          columns={[
            "Target",
            "Status",
            { name: "Started by", isMinor: true },
            { name: "Started", isMinor: true },
            { name: "Lines", isNumber: true },
            { name: "Rejected", isNumber: true },
            { name: "Skipped", isNumber: true, isMinor: true },
          ]}
          rows={imports.map((record) => [
            <>
              <a href={href(path`/o/${owner.name}/imports/${record.id}`)}>{targetName(record)}</a>
              {record.name !== undefined && (
                <>
                  <br />
                  <bdi class="soft small">{record.name}</bdi>
                </>
              )}
            </>,
            <ImportState record={record} />,
            starter(record),
            <Time at={record.created_at} />,
            formatCount(linesDone(record)),
            <span class={record.events_failed_to_import > 0 ? "refused" : "soft"}>
              {formatCount(record.events_failed_to_import)}
            </span>,
            formatCount(record.lines_skipped),
          ])}
          empty="No imports with this status."
        />
      </Panel>
      <Pager next={next} />
    </>
  );
}

function starter({ started_by: by, started_with_token: token }: EventImport) {
  return (
    <>
      {by}
      {token !== null && <span class="soft"> (token {token})</span>}
    </>
  );
}

const ALL = { status: undefined, label: "All", title: "All imports" };

const TABS: readonly { status: ImportStatus | undefined; label: string; title: string }[] = [
  ALL,
  { status: "importing", label: "Running", title: "Running imports" },
  { status: "done", label: "Done", title: "Finished imports" },
  { status: "aborted", label: "Stopped", title: "Stopped imports" },
];

function StatusTabs() {
  const { href, owner, query } = useVisit();
  const others = { package: query.get("package") ?? undefined, pixel: query.get("pixel") ?? undefined };
  const tabs = TABS.map(({ status, label }) => ({
    label,
    href: href(path`/o/${owner.name}/imports`, { status, ...others }),
    isCurrent: (query.get("status") ?? undefined) === status,
  }));
  return <Tabs label="Status" tabs={tabs} />;
}

function titleFor(query: URLSearchParams): string {
  const status = IMPORT_STATUSES.find((each) => each === query.get("status"));
  const { title } = TABS.find((tab) => tab.status === status) ?? ALL;
  return query.has("package") || query.has("pixel") ? `${title} of one package or pixel` : title;
}
