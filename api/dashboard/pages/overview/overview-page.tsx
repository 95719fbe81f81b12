import { DAY_MS, dateAt } from "../../../../schemas/date-range.js";
import { NotesContext } from "../../charts/notes.js";
import { AreaChart } from "../../charts/area-chart.js";
import { path } from "../../address.js";
import { mayManage, page, useVisit } from "../../page.js";
import { EmptyState, PageHead, Panel, Tiles } from "../../parts/panel.js";
import { isRunning } from "../../statistics/page-range.js";
import { ReportedPanel } from "../../statistics/reported-panel.js";
import { CompleteThrough, changeOf } from "../../statistics/metric-tiles.js";
import { CaseList } from "../first-steps/cases.js";
import {
  NewStages,
  OVERVIEW_DAYS,
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
  const { packages, pixels, statistics } = overview;
  if (packages.length === 0 && pixels.length === 0) return <Beginning />;
  return (
    <>
      <PageHead
        title={owner.name}
        about={
          <>
            The last {OVERVIEW_DAYS} days <CompleteThrough time={statistics.complete_through} />
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
      <Sums {...overview} />
      <NotesContext.Provider value={overview.notes}>
        <ByPackage {...overview} />
      </NotesContext.Provider>
      <PackageTable {...overview} />
      {overview.reported && <ReportedPanel {...overview.reported} range={overview.range} />}
      <div class="grid">
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
        <p>An admin or owner of {owner.name} can make the first one.</p>
      </EmptyState>
    );
  return (
    <>
      <PageHead title="What do you want to count?" about="Choose your case. Each takes a few minutes." />
      <CaseList />
    </>
  );
}

function Sums({ statistics: { totals, compare } }: Overview) {
  const tile = (label: string, name: keyof typeof totals) => ({
    label,
    value: totals[name],
    ...(compare && { change: changeOf(totals[name], compare.totals[name]), before: compare.totals[name] }),
  });
  return (
    <Tiles
      tiles={[
        tile("Downloads", "downloads"),
        tile("Unique addresses", "unique_addresses"),
        tile("Companies", "companies"),
        ...(totals.views > 0 ? [tile("Page views", "views")] : []),
      ]}
    />
  );
}

/** Packages with a layer of their own; the others are one. */
const LAYERS_MAX = 5;

function ByPackage({ byPackage: { packages, start_date: start, end_date: endDate } }: Overview) {
  const shown = packages.filter(({ downloads }) => downloads > 0);
  if (shown.length === 0) return null;
  const own = shown.slice(0, LAYERS_MAX);
  const others = shown.slice(LAYERS_MAX);
  const days = shown[0]?.days.length ?? 0;
  const places = Array.from({ length: days }, (_, day) => ({
    date: dateAt(Date.parse(start) + day * DAY_MS),
    values: [
      ...own.map((each) => each.days[day] ?? 0),
      ...(others.length > 0 ? [others.reduce((sum, each) => sum + (each.days[day] ?? 0), 0)] : []),
    ],
  }));
  const layers = [...own.map(({ name }) => name), ...(others.length > 0 ? ["all others"] : [])];
  return (
    <Panel title="Downloads by package">
      <AreaChart
        label="Downloads by package"
        caption="total"
        layers={layers}
        places={places}
        isLastOpen={isRunning({ endDate })}
      />
    </Panel>
  );
}

/** `/dashboard` itself leads to the owner that the viewer most likely means. */
export const homePage = page({
  path: "/",
  load({ ctx, user, href }) {
    const [first] = user.organizations;
    ctx.redirect(href(path`/o/${first?.name ?? user.username}`));
  },
  title: () => "Overview",
  render: () => <EmptyState title="On to your overview" />,
});
