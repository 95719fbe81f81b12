import { DAYS_INTERVALS, type StatisticsRow } from "../../../schemas/contracts/statistics.js";
import { NotesContext } from "../../web/charts/notes.js";
import { path } from "../../web/address.js";
import { mayManage, page, useVisit } from "../../web/page.js";
import { formatCount, formatDays } from "../../web/parts/format.js";
import { ProblemBox } from "../../web/parts/form.js";
import { EmptyState, PageHead, Tiles } from "../../web/parts/panel.js";
import { lastDayOf } from "../../web/statistics/page-range.js";
import { ReportedPanel } from "../statistics/reported-panel.js";
import { ComparedDays, changeIn } from "../../web/statistics/compared-days.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";
import { DataAsOf } from "../statistics/metric-tiles.js";
import { RangeBar } from "../statistics/range-bar.js";
import { WholeList, loadWholeList } from "../statistics/whole-list.js";
import { CaseList } from "../first-steps/cases.js";
import { ByPackage } from "./by-package.js";
import { WhatIsNew } from "./what-is-new.js";
import {
  NewStages,
  type Overview,
  PackageTable,
  PixelTable,
  Warnings,
  loadOverview,
} from "./overview-parts.js";

export const overviewPage = page<Overview>({
  path: "/o/:owner",
  section: "overview",
  load: (visit) => loadOverview(visit),
  title: (_, { owner }) => owner.name,
  render: (overview) => <OverviewContent {...overview} />,
});

function OverviewContent(overview: Overview) {
  const { owner, href } = useVisit();
  const { packages, pixels, statistics, range } = overview;
  if (packages.length === 0 && pixels.length === 0) return <Beginning />;
  return (
    <>
      <PageHead
        title={owner.name}
        about={
          <>
            {formatDays(range.startDate, lastDayOf(range))} (UTC){" "}
            <DataAsOf time={statistics.complete_through} />
          </>
        }
      >
        {mayManage(owner) && (
          <a class="button" href={href(path`/o/${owner.name}/new`)}>
            New package
          </a>
        )}
      </PageHead>
      <Warnings {...overview} />
      <RangeBar state={overview.state} compares={false} intervals={DAYS_INTERVALS} />
      {overview.problem && <ProblemBox problem={overview.problem} />}
      <Sums {...overview} />
      <ComparedDays statistics={overview.statistics} />
      <NotesContext.Provider value={overview.notes}>
        <ByPackage {...overview} />
      </NotesContext.Provider>
      <PackageTable {...overview} />
      {overview.reported && <ReportedPanel {...overview.reported} range={overview.range} />}
      <div class="grid">
        <WhatIsNew {...overview} />
        <NewStages {...overview} />
        <PixelTable {...overview} />
      </div>
    </>
  );
}

function Beginning() {
  const { owner } = useVisit();
  if (!mayManage(owner))
    return (
      <EmptyState title="No packages yet">
        <p>An admin or owner of {owner.name} can create the first one.</p>
      </EmptyState>
    );
  return (
    <>
      <PageHead
        title="What do you want to count?"
        about="Choose a source of downloads or page views. Setup takes a few minutes."
        guide="cases"
      />
      <CaseList />
    </>
  );
}

function Sums({ statistics }: Overview) {
  const { totals } = statistics;
  const tile = (name: keyof typeof METRIC_LABELS) => ({
    label: METRIC_LABELS[name],
    value: totals[name],
    change: changeIn(statistics, name),
  });
  return (
    <Tiles
      tiles={[
        tile("downloads"),
        tile("unique_addresses"),
        {
          ...tile("companies"),
          children: <WithoutDomain rows={statistics.breakdowns["company"] ?? []} />,
        },
        ...(totals.views > 0 ? [tile("views")] : []),
      ]}
    />
  );
}

/** Why fewer companies are listed than counted; of the rows of the breakdown, which are the most active companies. */
function WithoutDomain({ rows }: { rows: readonly StatisticsRow[] }) {
  const count = rows.filter((row) => !row["company_domain"]).length;
  if (count === 0) return null;
  return (
    <span class="soft small"> {formatCount(count)} without a known domain, not listed under Companies</span>
  );
}

/** One list of everything that the viewer may see, in full. */
export const ownerListPage = page({
  path: "/o/:owner/all/:breakdown",
  section: "overview",
  load: (visit) => loadWholeList(visit, {}),
  title: ({ panel }, { owner }) => `${panel.title} · ${owner.name}`,
  render: (data, { href, owner }) => (
    <WholeList
      data={data}
      back={href(path`/o/${owner.name}`)}
      about={owner.name}
      unit={METRIC_LABELS[data.panel.list.counts]}
      mayExport={owner.mayExport}
    />
  ),
});

/** `/dashboard` itself leads to the owner that the viewer most likely means. */
export const homePage = page({
  path: "/",
  load({ ctx, user, href }) {
    const [first] = user.organizations;
    ctx.redirect(href(path`/o/${first?.name ?? user.username}`));
  },
  title: () => "Overview",
  render: () => <EmptyState title="Go to overview" />,
});
