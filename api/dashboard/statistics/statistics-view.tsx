import {
  RANGE_LIMITS,
  type Statistics,
  type StatisticsBucket,
  isComparedDay,
} from "../../../schemas/contracts/statistics.js";
import { addDays } from "../../../schemas/date-range.js";
import type { Place, SecondLine } from "../../web/charts/second-line.js";
import { SeriesChart } from "../../web/charts/series-chart.js";
import { WorldMap } from "../../web/charts/world-map.js";
import { useVisit } from "../../web/page.js";
import { EmptyState, Panel } from "../../web/parts/panel.js";
import { ProblemBox } from "../../web/parts/form.js";
import { formatDate } from "../../web/parts/format.js";
import { BarList, ListLinks, csvFile } from "../../web/statistics/bar-list.js";
import { VersionTabs } from "./version-tabs.js";
import { NO_RANGE, isRunning } from "../../web/statistics/page-range.js";
import { FilterChips, RangeBar } from "./range-bar.js";
import { type LoadedStatistics, isNothing } from "../../web/statistics/load-statistics.js";
import { type Metric, type ViewState, linkWith } from "../../web/statistics/view-state.js";
import { MetricTiles } from "./metric-tiles.js";
import { type OtherPackages, PackageMenu } from "./compared-package.js";
import { ComparedDays } from "../../web/statistics/compared-days.js";
import { type PanelKind, countOf } from "../../web/statistics/panels.js";
import { METRIC_LABELS, type Unit } from "../../web/statistics/metric-labels.js";

interface StatisticsViewProps {
  loaded: LoadedStatistics;
  panels: readonly PanelKind[];
  unit: Unit;
  mayExport: boolean;
  /** Of a package's page: the others that its chart may have. */
  packages?: OtherPackages;
}

export function StatisticsView({ loaded, ...shown }: StatisticsViewProps) {
  const { state, statistics, problem } = loaded;
  return (
    <>
      <RangeBar state={state} />
      <FilterChips filters={state.filters} />
      {problem && <ProblemBox problem={problem} />}
      {problem?.code === "range-too-long" && state.filters.length > 0 && <ShorterRange />}
      {statistics && <Shown {...{ ...loaded, ...shown, statistics }} />}
    </>
  );
}

function ShorterRange() {
  const visit = useVisit();
  return (
    <p>
      <a class="button" href={linkWith(visit, { ...NO_RANGE, days: "90" })}>
        Show last 90 days with these filters
      </a>
    </p>
  );
}

type ShownProps = LoadedStatistics & { statistics: Statistics } & Omit<StatisticsViewProps, "loaded">;

function Shown({ firstDay, ...shown }: ShownProps) {
  const visit = useVisit();
  const { state, statistics, subject, unit, mayExport, packages } = shown;
  const { totals } = statistics;
  const metric = unit === METRIC_LABELS.views && state.metric === "downloads" ? "views" : state.metric;
  const isEmpty = isNothing(totals);
  const series = statistics.series.filter(({ time = "" }) => time <= new Date().toISOString());
  const second = secondOf(shown, metric);
  return (
    <>
      <section class="panel flush" aria-label="Trend">
        <MetricTiles statistics={statistics} metric={metric} unit={unit} />
        <div class="compared">
          <ComparedDays statistics={statistics} />
          {packages && <PackageMenu {...packages} />}
        </div>
        <SeriesChart
          label={METRIC_LABELS[metric]}
          interval={statistics.interval}
          places={placesOf(series, metric)}
          second={second && { ...second, places: second.places.slice(0, series.length) }}
          others={otherMetrics(metric, unit).map((other) => ({
            name: METRIC_LABELS[other],
            values: series.map((bucket) => bucket[other]),
          }))}
          isLastOpen={isRunning(state)}
          csv={mayExport ? csvFile(visit, { state, subject }) : undefined}
        />
      </section>
      {isEmpty ? <NothingHere state={state} firstDay={firstDay} /> : <Lists {...shown} />}
    </>
  );
}

/** The rows of each list; a link leads to the others. */
const ROWS = 10;

/** The countries with their map, then the others beside each other. */
function Lists({
  state,
  statistics,
  subject,
  countries,
  panels,
  unit,
  mayExport,
}: Omit<ShownProps, "problem" | "firstDay">) {
  const { breakdowns } = statistics;
  const isCompared = compareWith(statistics) !== undefined;
  const shown = panels.map((panel) => {
    const { name } = panel.list;
    const rows = breakdowns[name] ?? [];
    const list = <BarList panel={panel} rows={rows.slice(0, ROWS)} isCompared={isCompared} unit={unit} />;
    const links = rows.length > 0 && <ListLinks {...{ panel, state, subject, mayExport }} />;
    return { panel, list, links };
  });
  const counts = (country: PanelKind) =>
    countries.map((row) => ({ code: String(row["country"] ?? ""), count: countOf(country, row) }));
  return (
    <>
      {shown
        .filter(({ panel }) => panel.list.name === "country")
        .map(({ panel, list, links }) => (
          <Panel title={panel.title} links={links}>
            <div class="map-and-list">
              <WorldMap unit={unit.toLowerCase()} counts={counts(panel)} />
              <div>{list}</div>
            </div>
          </Panel>
        ))}
      <div class="grid">
        {shown
          .filter(({ panel }) => panel.list.name !== "country")
          .map(({ panel, list, links }) => (
            <Panel title={panel.title} links={links}>
              {panel.list.isOfVersions === true && <VersionTabs state={state} />}
              {list}
            </Panel>
          ))}
      </div>
    </>
  );
}

/** Another package where one is chosen, else the previous period. */
function secondOf(
  { packages, statistics, state }: Omit<ShownProps, "firstDay">,
  metric: Metric,
): SecondLine | undefined {
  const { chosen } = packages ?? {};
  if (chosen !== undefined)
    return { of: "package", name: chosen.name, places: placesOf(chosen.series, metric) };
  const before = compareWith(statistics);
  return before && { of: "days", name: nameOf(state), places: placesOf(before.series, metric) };
}

/** The name of the days that are compared. */
function nameOf({ compare }: ViewState): string {
  if (isComparedDay(compare)) return `Period starting ${formatDate(compare)}`;
  return compare.startsWith("year") ? "Previous year" : "Previous period";
}

function placesOf(series: readonly StatisticsBucket[], metric: Metric): Place[] {
  return series.map((bucket) => ({ date: bucket.time ?? bucket.date, value: bucket[metric] }));
}

/** The previous period, unless nothing was counted then: a line of zeros and a column of "new" would say the same again. */
function compareWith({ compare }: Statistics): Statistics["compare"] {
  return compare === undefined || isNothing(compare.totals) ? undefined : compare;
}

/** A package has no views of its own, a pixel no downloads. */
function otherMetrics(drawn: Metric, unit: Unit): Metric[] {
  const own: Metric[] = [unit === METRIC_LABELS.views ? "views" : "downloads", "unique_addresses"];
  return own.filter((metric) => metric !== drawn);
}

function NothingHere({ state, firstDay }: { state: ViewState; firstDay: string | undefined }) {
  const visit = useVisit();
  if (state.filters.length > 0)
    return (
      <EmptyState title="No data for these filters">
        <p>Remove a filter or choose another period.</p>
      </EmptyState>
    );
  return (
    <EmptyState title="No data for this period">
      {firstDay !== undefined && (
        <p>
          First event:{" "}
          <a href={linkWith(visit, { ...NO_RANGE, ...daysFrom(firstDay), interval: undefined })}>
            {formatDate(firstDay)}
          </a>
          .
        </p>
      )}
    </EmptyState>
  );
}

/** As many days as are shown by default. */
function daysFrom(startDate: string): { startDate: string; endDate: string } {
  return { startDate, endDate: addDays(startDate, RANGE_LIMITS.daysDefault) };
}
