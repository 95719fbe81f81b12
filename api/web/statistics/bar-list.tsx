import type { StatisticsRow } from "../../../schemas/contracts/statistics.js";
import { type Visit, useVisit } from "../page.js";
import { Change } from "../parts/panel.js";
import { formatFull, formatShare } from "../parts/format.js";
import { type PanelKind, countOf, detailOf, explanationOf, filtersOf, labelOf } from "./panels.js";
import { type Subject } from "./load-statistics.js";
import { lastDayOf } from "./page-range.js";
import { type ViewState, linkToggling, queryOf } from "./view-state.js";
import { path, withQuery } from "../address.js";
import type { Unit } from "./metric-labels.js";

interface BarListProps {
  panel: PanelKind;
  rows: readonly StatisticsRow[];
  isCompared: boolean;
  unit: Unit;
  /** The page has no filters: rows are no links. */
  isUnfiltered?: boolean;
}

/** The rows of a list with bars. Each is a link that filters the page by it, or takes the filter away. */
export function BarList({ panel, rows, isCompared, unit, isUnfiltered }: BarListProps) {
  if (rows.length === 0) return <p class="none">No data for this period.</p>;
  const greatest = Math.max(...rows.map(({ share }) => share));
  return (
    <table class="bars">
      <caption class="hidden">{panel.title}</caption>
      <thead>
        <tr>
          <th scope="col">{panel.noun}</th>
          <th scope="col" class="number">
            {unit}
          </th>
          <th scope="col" class="number">
            Share
          </th>
          {isCompared && (
            <th scope="col" class="number">
              Change
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            <th scope="row">
              <svg class="bar-of" aria-hidden="true" width="100%" height="100%">
                <rect width={`${((row.share / greatest) * 100).toFixed(1)}%`} height="100%" rx="4" />
              </svg>
              {isUnfiltered ? (
                <bdi class="label">{labelOf(panel, row)}</bdi>
              ) : (
                <FilterLink panel={panel} row={row} />
              )}
              <Explanation panel={panel} row={row} />
            </th>
            <td class="number">
              <data value={String(countOf(panel, row))}>{formatFull(countOf(panel, row))}</data>
            </td>
            <td class="number soft">{formatShare(row.share)}</td>
            {isCompared && (
              <td class="number">
                <Change ratio={row.change} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Explanation({ panel, row }: { panel: PanelKind; row: StatisticsRow }) {
  const words = explanationOf(panel, row);
  return words === undefined ? null : <span class="label soft small">{words}</span>;
}

function FilterLink({ panel, row }: { panel: PanelKind; row: StatisticsRow }) {
  const visit = useVisit();
  const filters = filtersOf(panel, row);
  const isSet = filters.length > 0 && filters.every(({ name, value }) => visit.query.has(name, value));
  const detail = detailOf(panel, row);
  const label = labelOf(panel, row);
  return (
    <a
      href={linkToggling(visit, filters)}
      aria-current={isSet ? "true" : undefined}
      data-value={filters[0]?.value}
      data-keep
      title={detail === undefined ? label : `${label} · ${detail}`}
    >
      <bdi>{label}</bdi>
    </a>
  );
}

interface ListLinksProps {
  panel: PanelKind;
  state: ViewState;
  subject: Subject;
  mayExport: boolean;
}

/** To the whole list, and to it as CSV where that is granted. */
export function ListLinks({ panel: { list, title }, state, subject, mayExport }: ListLinksProps) {
  const visit = useVisit();
  const { here, href, query } = visit;
  const whole = new URLSearchParams([...query].filter(([name]) => name !== "metric" && name !== "notice"));
  return (
    <>
      <a href={withParameters(href(`${here}${path`/all/${list.name}`}`), whole)}>
        All<span class="hidden"> {title.toLowerCase()}</span>
      </a>
      {mayExport && (
        <a {...csvFile(visit, { list: list.name, state, subject })}>
          <span class="hidden">Download {title.toLowerCase()} as </span>CSV
        </a>
      )}
    </>
  );
}

interface CsvOf {
  state: ViewState;
  subject: Subject;
  /** Absent for the series. */
  list?: string;
  /** Narrows a list to the rows with this text. */
  search?: string | undefined;
}

/** A link to the numbers on the page as CSV, with all rows of a list. */
export function csvFile(visit: Visit, { state, subject, list, search }: CsvOf) {
  const { href, owner } = visit;
  const { interval, ...asked } = queryOf(state);
  const at = path`/api/v2/${owner.name}/stats`;
  const query = { ...asked, ...subject, accept: "text/csv" };
  return {
    href: href(
      list === undefined
        ? withQuery(at, { ...query, interval, compare: undefined })
        : withQuery(at + path`/${list}`, { ...query, search }),
    ),
    download: fileName(visit, { state, list }),
  };
}

/** `web-country-2026-11-01-to-2026-11-30.csv`: package, list, first and last day. */
export function fileName(
  { here }: Pick<Visit, "here">,
  { state, list = "total" }: { state: Pick<ViewState, "startDate" | "endDate">; list?: string | undefined },
): string {
  const [, , owner = "", page, name = ""] = here.split("/");
  const subject = decodeURIComponent(page === "all" ? owner : name)
    .replaceAll(/[^\w.-]+/g, "-")
    .replace(/^-/, "");
  return `${[subject, list, state.startDate, "to", lastDayOf(state)].join("-")}.csv`;
}

function withParameters(address: string, query: URLSearchParams): string {
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}
