import { lastDayOf } from "../../web/statistics/page-range.js";
import type { ReportedDays, SourceRecord } from "../../../schemas/contracts/source.js";
import { type DateRange, addDays } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { REGISTRIES } from "../../features/sources/registries/registries.js";
import { path } from "../../web/address.js";
import { SeriesChart } from "../../web/charts/series-chart.js";
import { Sparkline } from "../../web/charts/area-chart.js";
import { type Visit, mayManage, useVisit } from "../../web/page.js";
import { formatDays, formatFull, formatShare, formatTime } from "../../web/parts/format.js";
import { Panel } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";

export interface Reported {
  days: ReportedDays["sources"];
  /** Of this package, or all of the owner's. */
  sources: readonly SourceRecord[];
}

/** What registries counted, and the state of each source; undefined without sources, or for a range that is refused. */
export async function loadReported(
  { api, owner }: Visit,
  { range, packageId }: { range: DateRange; packageId?: string },
): Promise<Reported | undefined> {
  const query = { ...range, ...(packageId !== undefined && { package: packageId }) };
  try {
    const [listed, reported] = await Promise.all([
      api<{ sources: SourceRecord[] }>({ path: path`/v2/${owner.name}/sources`, query: { per_page: 1_000 } }),
      api<ReportedDays>({ path: path`/v2/${owner.name}/stats/reported`, query }),
    ]);
    const sources = listed.sources.filter(
      ({ package_id: id }) => packageId === undefined || id === packageId,
    );
    return sources.length === 0 ? undefined : { days: reported.sources, sources };
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return undefined;
    throw error;
  }
}

interface PanelProps extends Reported {
  range: DateRange;
  /** What we saw of the same in the same days. */
  seen?: number | undefined;
  /** Whether each has a chart of its own. */
  isDrawn?: boolean;
}

/** Beside our own numbers and never added to them: a registry sees everybody and knows nobody. */
export function ReportedPanel({ days, sources, range, seen, isDrawn }: PanelProps) {
  const { href, owner } = useVisit();
  const rows = sources.flatMap(
    (source): { source: SourceRecord; counted: Reported["days"][number] | undefined }[] => {
      const found = days.filter((each) => each.source === source.id);
      return found.length === 0
        ? [{ source, counted: undefined }]
        : found.map((counted) => ({ source, counted }));
    },
  );
  const isWaiting = sources.some(
    ({ enabled, last_success_at: at, last_error: error }) =>
      enabled && at === undefined && error === undefined,
  );
  return (
    <Panel
      title="Registry counts"
      links={mayManage(owner) && <a href={href(path`/o/${owner.name}/settings/sources`)}>Manage</a>}
    >
      <p class="soft">
        Counts reported by the registry for {formatDays(range.startDate, lastDayOf(range))}. They are not
        included in your other numbers.
      </p>
      {isWaiting && (
        <p class="notice waiting" data-wait={href(path`/api/v2/${owner.name}/sources`)}>
          <span class="pulse" aria-hidden="true" />
          <span role="status">Fetching counts from the registry…</span>
        </p>
      )}
      {sources.map((source) => (
        <Failure source={source} />
      ))}
      {(isDrawn ? days : []).map(({ kind, name, metric, days: values }) => (
        <SeriesChart
          label={`${name}: ${metric} on ${kind}`}
          interval="day"
          places={values.map((value, day) => ({
            date: addDays(range.startDate, day),
            value,
          }))}
        />
      ))}
      <Table
        caption="Registry counts"
        columns={[
          "Registry",
          "By day",
          { name: "Registry count", isNumber: true },
          ...(seen === undefined ? [] : [{ name: "Your count", isNumber: true }]),
          { name: "Data as of", isMinor: true },
        ]}
        rows={rows.map(({ source, counted }) => [
          <>
            <a href={REGISTRIES[source.kind].pageOf(source.name)} rel="noreferrer">
              <bdi>{source.name}</bdi>
            </a>{" "}
            <span class="soft">{source.kind}</span>
          </>,
          <Sparkline values={counted?.days ?? []} />,
          counted === undefined ? noneYet(source) : `${formatFull(counted.total)} ${counted.metric}`,
          ...(seen === undefined ? [] : [shareOf(seen, counted?.total)]),
          source.last_success_at ? formatTime(source.last_success_at) : "",
        ])}
      />
    </Panel>
  );
}

function Failure({ source: { enabled, kind, name, last_error: error } }: { source: SourceRecord }) {
  if (!enabled || error === undefined) return null;
  return (
    <p class="problem" role="alert">
      Counts for {kind} <bdi>{name}</bdi> could not be fetched: {error}
    </p>
  );
}

/** Registries that only have a sum have no day before the second time they are asked. */
function noneYet({ last_success_at: at }: SourceRecord): string {
  return at === undefined ? "" : "No counts yet";
}

function shareOf(seen: number, counted: number | undefined): string {
  return counted === undefined || counted === 0
    ? formatFull(seen)
    : `${formatFull(seen)} (${formatShare(seen / counted)})`;
}
