import type { Statistics } from "../../../schemas/contracts/statistics.js";
import { useContext } from "preact/hooks";
import { NotesContext, type Note } from "../../web/charts/notes.js";
import { useVisit } from "../../web/page.js";
import { formatCount, formatDate, formatFull, formatTime } from "../../web/parts/format.js";
import { changeIn } from "../../web/statistics/compared-days.js";
import { NotedChange } from "./noted-change.js";
import { noteOfSpike } from "./noted-days.js";
import { type Metric, linkWith } from "../../web/statistics/view-state.js";
import { dateAt } from "../../../schemas/date-range.js";
import { METRIC_LABELS, type Unit } from "../../web/statistics/metric-labels.js";

interface MetricTilesProps {
  statistics: Statistics;
  metric: Metric;
  unit: Unit;
}

const TILES = [
  { name: "downloads", isDrawn: true },
  { name: "views", isDrawn: true },
  { name: "unique_addresses", isDrawn: true },
  { name: "companies", isDrawn: false },
] as const;

/** The sums of the range against those before. Those that have a series choose what is drawn. */
export function MetricTiles({ statistics, metric, unit }: MetricTilesProps) {
  const { totals, compare } = statistics;
  const visit = useVisit();
  const note = useNoteOfSpike(statistics);
  const isShown = (name: (typeof TILES)[number]["name"]) =>
    name === "downloads"
      ? unit === METRIC_LABELS.downloads
      : name !== "views" || unit === METRIC_LABELS.views || totals.views > 0;
  return (
    <ul class="tiles metrics">
      {TILES.filter(({ name }) => isShown(name)).map(({ name, isDrawn }) => {
        const change = changeIn(statistics, name);
        const content = (
          <>
            <span
              class="label"
              title={name === "unique_addresses" ? "Distinct IP addresses, not people" : undefined}
            >
              {METRIC_LABELS[name]}
            </span>
            <span>
              <data class="figure" value={String(totals[name])} title={formatFull(totals[name])}>
                {formatCount(totals[name])}
              </data>
              {change !== undefined && (
                <NotedChange ratio={change} note={name === "downloads" ? note : undefined} />
              )}
            </span>
            {compare && <span class="soft small">vs {formatCount(compare.totals[name])}</span>}
          </>
        );
        return (
          <li class="tile">
            {isDrawn ? (
              <a
                href={linkWith(visit, { metric: name })}
                aria-current={name === metric ? "true" : undefined}
                data-keep
              >
                {content}
              </a>
            ) : (
              <div>{content}</div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Of the package whose page this is. */
function useNoteOfSpike({ interval, series, start_date: startDate }: Statistics): Note | undefined {
  const notes = useContext(NotesContext);
  if (interval !== "day") return undefined;
  return noteOfSpike({ days: series.map(({ downloads }) => downloads) }, { notes, range: { startDate } });
}

/** Until when everything is counted, and the first day with numbers where earlier ones of the range have none. */
export function DataAsOf({ time, from }: { time: string; from?: string | undefined }) {
  const isToday = time.slice(0, 10) === dateAt(Date.now());
  return (
    <span class="soft small">
      <span aria-hidden="true">· </span>Data as of{" "}
      <time dateTime={time}>{isToday ? `${time.slice(11, 16)} UTC` : formatTime(time)}</time>
      {from !== undefined && ` · Earliest data: ${formatDate(from)}; older events have expired`}
    </span>
  );
}
