import type { Interval, PackageDownloads } from "../../../schemas/contracts/statistics.js";
import { bucketsOf } from "../../../aggregate/statistics/buckets.js";
import { type DateRange, daysBetween } from "../../../schemas/date-range.js";
import { AreaChart } from "../../web/charts/area-chart.js";
import { path } from "../../web/address.js";
import { useVisit } from "../../web/page.js";
import { Panel } from "../../web/parts/panel.js";
import { isRunning } from "../../web/statistics/page-range.js";
import { linkToggling } from "../../web/statistics/view-state.js";
import type { Overview } from "./overview-parts.js";

/** Packages with a layer of their own; the others are one. */
const LAYERS_MAX = 5;
const OTHERS = "Other packages";
/** The parameter of the page that leaves a package out of the chart, by id. */
const WITHOUT = "without";

export function ByPackage({ byPackage, range, state: { interval } }: Overview) {
  const { query } = useVisit();
  const left = new Set(query.getAll(WITHOUT));
  const counted = byPackage.packages.filter(({ downloads }) => downloads > 0);
  if (counted.length === 0) return null;
  const shown = counted.filter((each) => !left.has(each.package));
  const layers = layersOf(shown);
  return (
    <Panel title="Downloads by package">
      <AreaChart
        label="Downloads by package"
        interval={interval}
        layers={layers.map(({ name }) => name)}
        places={groupDays(layers, { range, interval })}
        isLastOpen={isRunning(range)}
        legend={<Legend shown={shown} left={counted.filter((each) => left.has(each.package))} />}
      />
    </Panel>
  );
}

interface Layer {
  name: string;
  days: readonly number[];
}

function layersOf(shown: readonly PackageDownloads[]): Layer[] {
  const others = shown.slice(LAYERS_MAX);
  const days = shown[0]?.days.map((_, day) => sumOf(others.map((each) => each.days[day] ?? 0))) ?? [];
  return [...shown.slice(0, LAYERS_MAX), ...(others.length > 0 ? [{ name: OTHERS, days }] : [])];
}

/** The sums of each bucket of the statistics. */
export function groupDays(
  layers: readonly Layer[],
  { range, interval }: { range: DateRange; interval: Interval },
): { date: string; values: number[] }[] {
  if (layers.length === 0) return [];
  const starts = bucketsOf(range, interval);
  const dayOf = (date: string) => daysBetween(range.startDate, date);
  return starts.map((date, index) => {
    const [from, until] = [dayOf(date), dayOf(starts[index + 1] ?? range.endDate)];
    return { date, values: layers.map(({ days }) => sumOf(days.slice(from, until))) };
  });
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A name leads to its package; the button beside it takes it out of the chart, or brings it back. */
function Legend({ shown, left }: { shown: readonly PackageDownloads[]; left: readonly PackageDownloads[] }) {
  return (
    <ul class="legend" aria-label="Packages in the chart">
      {shown.slice(0, LAYERS_MAX).map((each, layer) => (
        <Entry found={each} kind={`line c${layer + 1}`} />
      ))}
      {shown.length > LAYERS_MAX && <li class="key">{OTHERS}</li>}
      {left.map((each) => (
        <Entry found={each} />
      ))}
    </ul>
  );
}

function Entry({ found: { package: id, name }, kind }: { found: PackageDownloads; kind?: string }) {
  const visit = useVisit();
  const { href, owner } = visit;
  return (
    <li class="key">
      <a
        href={linkToggling(visit, [{ name: WITHOUT, value: id }])}
        class="swatch"
        aria-label={kind === undefined ? `Show ${name} in the chart` : `Hide ${name} in the chart`}
        title={kind === undefined ? "Show" : "Hide"}
        data-keep
      >
        <svg viewBox="0 0 18 10" width="18" height="10" aria-hidden="true">
          <line x1="1" y1="5" x2="17" y2="5" class={kind ?? "line before"} />
        </svg>
      </a>
      <a href={href(path`/o/${owner.name}/packages/${id}`)}>
        <bdi>{name}</bdi>
      </a>
    </li>
  );
}
