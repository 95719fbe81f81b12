import type { CompanyRecord, FunnelRecord, FunnelRunRecord } from "../../../../schemas/contracts/funnel.js";
import { lastDays } from "../../../../schemas/date-range.js";
import { STAGES } from "../../../../schemas/records/funnel.js";
import { type Query, path } from "../../address.js";
import { AreaChart } from "../../charts/area-chart.js";
import { type Visit, mayManage, page, useVisit } from "../../page.js";
import { Button, Form } from "../../parts/form.js";
import { EmptyState, PageHead, Panel, Tabs } from "../../parts/panel.js";
import { formatCount, formatDate, formatTime } from "../../parts/format.js";
import { Pager, Table } from "../../parts/table.js";
import { STAGE_WORDS, StageBadge } from "./stage-words.js";

interface Shown {
  funnel: FunnelRecord;
  companies: CompanyRecord[];
  next?: string | undefined;
}

const PER_PAGE = 50;
const DAYS = 90;

export const companiesPage = page<Shown>({
  path: "/o/:owner/companies",
  section: "companies",
  async load({ api, owner, query }) {
    const at = path`/v2/${owner.name}`;
    const [funnel, list] = await Promise.all([
      api<FunnelRecord>({ path: `${at}/funnel`, query: { ...lastDays(DAYS, new Date()) } }),
      api<{ companies: CompanyRecord[]; next?: string }>({
        path: `${at}/companies`,
        query: { ...stateOf(query), per_page: PER_PAGE },
      }),
    ]);
    return { funnel, ...list };
  },
  title: (_, { owner }) => `Companies of ${owner.name}`,
  render: (shown) => <Companies {...shown} />,
  async submit({ api, owner, href }) {
    const run = await api<FunnelRunRecord>({ method: "POST", path: path`/v2/${owner.name}/funnel/run` });
    return {
      to: href(path`/o/${owner.name}/companies`, { notice: run.waits_for_imports ? "waits" : "computed" }),
    };
  },
  notices: {
    computed: "The stages were computed just now.",
    waits: "Imports are running. The stages are computed once they are done.",
  },
});

/** The part of the page's address that the list understands. */
function stateOf(query: URLSearchParams): Query {
  const names = ["stage", "search", "sort", "after"];
  return Object.fromEntries(names.map((name) => [name, query.get(name) || undefined]));
}

function Companies({ funnel, companies, next }: Shown) {
  const { query, owner } = useVisit();
  const isEmpty = companies.length === 0 && [...query.keys()].every((name) => name === "notice");
  return (
    <>
      <PageHead
        title="Companies"
        guide="funnel"
        about={
          funnel.as_of === undefined
            ? "Stages are computed once an hour; they have not been yet."
            : `Stages as of ${formatTime(funnel.as_of)}; they are computed once an hour.`
        }
      >
        {mayManage(owner) && (
          <Form action="run" class="inline">
            <Button kind="plain">Compute now</Button>
          </Form>
        )}
      </PageHead>
      {isEmpty ? (
        <EmptyState title="No company was seen yet">
          <p>
            A company shows here once somebody downloads from an address that belongs to it: an office, not a
            home or a cloud.
          </p>
        </EmptyState>
      ) : (
        <>
          <Stages funnel={funnel} />
          <StageTabs funnel={funnel} />
          <CompanyList companies={companies} />
          <Pager next={next} />
        </>
      )}
    </>
  );
}

function Stages({ funnel }: { funnel: FunnelRecord }) {
  return (
    <Panel title="Companies by stage, by day">
      <AreaChart
        label="Companies by stage"
        layers={STAGES.map((stage) => STAGE_WORDS[stage])}
        places={funnel.days.map(({ date, stages }) => ({
          date,
          values: STAGES.map((stage) => stages[stage]),
        }))}
      />
    </Panel>
  );
}

function StageTabs({ funnel: { stages } }: { funnel: FunnelRecord }) {
  const visit = useVisit();
  const current = visit.query.get("stage") ?? undefined;
  const all = STAGES.reduce((sum, stage) => sum + stages[stage], 0);
  const tab = (stage: (typeof STAGES)[number] | undefined, label: string, count: number) => ({
    label: (
      <>
        {label} <span class="count">{formatCount(count)}</span>
      </>
    ),
    href: addressWith(visit, { stage, after: undefined }),
    isCurrent: current === stage,
  });
  return (
    <Tabs
      label="Stage"
      tabs={[
        tab(undefined, "All", all),
        ...STAGES.map((stage) => tab(stage, STAGE_WORDS[stage], stages[stage])),
      ]}
    />
  );
}

function addressWith({ href, owner, query }: Visit, changed: Query): string {
  return href(path`/o/${owner.name}/companies`, { ...stateOf(query), ...changed });
}

function CompanyList({ companies }: { companies: readonly CompanyRecord[] }) {
  const visit = useVisit();
  const { href, owner, query } = visit;
  return (
    <Panel title="All companies" links={<Downloads />}>
      <Search />
      <Table
        caption="Companies"
        columns={[
          { name: "Company" },
          { name: "Stage" },
          { name: "Since", isMinor: true },
          { name: "Score", isNumber: true, isMinor: true },
          { name: "Downloads", isNumber: true },
          { name: "Views", isNumber: true },
          { name: "Last seen", isNumber: true, isMinor: true },
        ]}
        rows={companies.map((company) => [
          <>
            <a href={href(path`/o/${owner.name}/companies/${company.domain}`)}>
              <bdi>{company.name || company.domain}</bdi>
            </a>
            {company.name !== "" && company.name !== company.domain && (
              <>
                <br />
                <span class="soft small">{company.domain}</span>
              </>
            )}
          </>,
          <StageBadge stage={company.stage} />,
          company.since === undefined ? "" : formatDate(company.since.slice(0, 10)),
          company.score,
          formatCount(company.downloads),
          formatCount(company.views),
          company.last_seen === undefined ? "" : formatDate(company.last_seen),
        ])}
        empty={query.has("search") ? "No company has this in its name or domain." : "There is none."}
      />
    </Panel>
  );
}

const SORTS = { score: "Score", downloads: "Downloads", last_seen: "Last seen" } as const;

/** Works without script: a form that puts its fields into the address. */
function Search() {
  const { href, owner, query } = useVisit();
  const stage = query.get("stage");
  return (
    <form method="get" action={href(path`/o/${owner.name}/companies`)} class="row" role="search">
      {stage !== null && <input type="hidden" name="stage" value={stage} />}
      <div class="field">
        <label for="search">Name or domain</label>
        <input id="search" name="search" type="search" value={query.get("search") ?? ""} maxLength={256} />
      </div>
      <div class="field">
        <label for="sort">Sorted by</label>
        <select id="sort" name="sort">
          {Object.entries(SORTS).map(([value, label]) => (
            <option value={value} selected={value === (query.get("sort") ?? "score")}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <button type="submit">Show</button>
    </form>
  );
}

/** Files need the grant, which the page itself does not. */
function Downloads() {
  const { href, owner, query } = useVisit();
  if (!owner.mayExport) return null;
  const { after: _, ...state } = stateOf(query);
  const address = href(`/api${path`/v2/${owner.name}/companies`}`, {
    ...state,
    per_page: 1_000,
    accept: "text/csv",
  });
  return (
    <a href={address} download="companies.csv">
      CSV
    </a>
  );
}
