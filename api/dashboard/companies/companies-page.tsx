import type { CompanyRecord, FunnelRecord, FunnelRunRecord } from "../../../schemas/contracts/funnel.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { StatisticsListPage } from "../../../schemas/contracts/statistics.js";
import { lastDays } from "../../../schemas/date-range.js";
import { STAGES } from "../../../schemas/records/funnel.js";
import { path } from "../../web/address.js";
import { AreaChart } from "../../web/charts/area-chart.js";
import { type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { Button, Form } from "../../web/parts/form.js";
import { EmptyState, PageHead, Panel, Tabs } from "../../web/parts/panel.js";
import { formatCount, formatTime } from "../../web/parts/format.js";
import { Pager } from "../../web/parts/table.js";
import { ifAllowed, packagesOf } from "../../web/artifacts-of.js";
import { CompanyList } from "./company-list.js";
import { addressWith, askedBy } from "./list-state.js";
import { STAGE_LABELS } from "./stage-labels.js";
import { numbered } from "../../../schemas/records/numbered.js";

interface Shown {
  funnel: FunnelRecord;
  companies: CompanyRecord[];
  next?: string | undefined;
  packages: readonly PackageV1[];
  unlisted: number;
}

const PER_PAGE = 50;
const DAYS = 90;
/** The overview shows so many days where none are chosen. */
const RECENT_DAYS = 30;

export const companiesPage = page<Shown>({
  path: "/o/:owner/companies",
  section: "companies",
  async load(visit) {
    const { api, owner, query } = visit;
    const at = path`/v2/${owner.name}`;
    const [packages, unlisted, funnel, list] = await Promise.all([
      packagesOf(visit),
      countUnlisted(visit),
      api<FunnelRecord>({ path: `${at}/funnel`, query: { ...lastDays(DAYS, new Date()) } }),
      api<{ companies: CompanyRecord[]; next?: string }>({
        path: `${at}/companies`,
        query: { ...askedBy(query), per_page: PER_PAGE, days: RECENT_DAYS },
      }),
    ]);
    return { packages, unlisted, funnel, ...list };
  },
  title: (_, { owner }) => `Companies · ${owner.name}`,
  render: (shown) => <Companies {...shown} />,
  async submit({ api, owner, href }) {
    const run = await api<FunnelRunRecord>({ method: "POST", path: path`/v2/${owner.name}/funnel/run` });
    return {
      to: href(path`/o/${owner.name}/companies`, { notice: run.waits_for_imports ? "waits" : "computed" }),
    };
  },
  notices: {
    computed: "Stages updated.",
    waits: "Imports are running. Stages will be updated when they finish.",
  },
});

/** How many companies downloaded in the last 30 days that have no domain: the overview counts them. Looks at 1,000. */
async function countUnlisted({ api, owner, query }: Visit): Promise<number> {
  if ([...query.keys()].some((name) => name !== "notice")) return 0;
  const list = await ifAllowed(
    api<StatisticsListPage>({
      path: path`/v2/${owner.name}/stats/company`,
      query: { ...lastDays(RECENT_DAYS, new Date()), per_page: 1_000 },
    }),
  );
  return list?.rows.filter((row) => !row["company_domain"]).length ?? 0;
}

function Companies({ funnel, companies, next, packages, unlisted }: Shown) {
  const { query, owner } = useVisit();
  const isEmpty = companies.length === 0 && [...query.keys()].every((name) => name === "notice");
  return (
    <>
      <PageHead
        title="Companies"
        guide="funnel"
        about={
          funnel.as_of === undefined
            ? "Stages are updated hourly. The first update is pending."
            : `Stages are updated hourly. Last update: ${formatTime(funnel.as_of)}.`
        }
      >
        {mayManage(owner) && (
          <Form action="run" class="inline">
            <Button kind="plain">Update stages</Button>
          </Form>
        )}
      </PageHead>
      {isEmpty ? (
        <EmptyState title="No companies yet">
          <p>
            Companies appear once someone downloads from a company's network. Downloads from home connections
            and cloud providers can't be assigned to a company.
          </p>
          <NotListed count={unlisted} />
        </EmptyState>
      ) : (
        <>
          <Stages funnel={funnel} />
          <StageTabs funnel={funnel} />
          <CompanyList companies={companies} packages={packages} />
          <Pager next={next} />
          <NotListed count={unlisted} />
        </>
      )}
    </>
  );
}

function NotListed({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <p class="soft">
      {numbered(count, "more company", "more companies")} without a known domain downloaded in the last{" "}
      {RECENT_DAYS} days. The overview includes them. This list does not, because stages are computed by
      domain.
    </p>
  );
}

function Stages({ funnel }: { funnel: FunnelRecord }) {
  return (
    <Panel title="Companies by stage">
      <AreaChart
        label="Companies by stage"
        layers={STAGES.map((stage) => STAGE_LABELS[stage])}
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
        ...STAGES.map((stage) => tab(stage, STAGE_LABELS[stage], stages[stage])),
      ]}
    />
  );
}
