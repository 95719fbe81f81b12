import { type Adoption as AdoptionAnswer, OTHER_VERSIONS } from "../../../schemas/contracts/adoption.js";
import { END_OF_LIFE_DAYS, type EndOfLifeUse } from "../../../schemas/contracts/end-of-life.js";
import { dateAt } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { path } from "../../web/address.js";
import { AreaChart } from "../../web/charts/area-chart.js";
import { type Visit, useVisit } from "../../web/page.js";
import { formatDate, formatFull, formatShare } from "../../web/parts/format.js";
import { Badge, Panel } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";
import { isRunning } from "../../web/statistics/page-range.js";
import { linkToggling, queryOf, type ViewState } from "../../web/statistics/view-state.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";

export interface LoadedVersions {
  /** Undefined where the range or a filter is refused: the page says so. */
  adoption: AdoptionAnswer | undefined;
  ends: readonly EndOfLifeUse[];
}

/** How the versions of a package take over from each other, and who uses those that have ended. */
export async function loadVersions(
  { api, owner }: Visit,
  { state, packageId }: { state: ViewState; packageId: string },
): Promise<LoadedVersions> {
  const interval = state.interval === "month" ? "month" : "week";
  const { versions } = state;
  const query = { ...queryOf(state), package: packageId, interval, versions, compare: undefined };
  const [adoption, ends = []] = await Promise.all([
    orNothing(api<AdoptionAnswer>({ path: path`/v2/${owner.name}/stats/adoption`, query })),
    loadEndsOfLife({ api, owner }, packageId),
  ]);
  return { adoption, ends };
}

/** Undefined where they cannot be read. */
export async function loadEndsOfLife(
  { api, owner }: Pick<Visit, "api" | "owner">,
  packageId: string,
): Promise<EndOfLifeUse[] | undefined> {
  const at = path`/v2/packages/${owner.name}/${packageId}/end-of-life`;
  return (await orNothing(api<{ versions: EndOfLifeUse[] }>({ path: at })))?.versions;
}

/** The page has numbers without these. */
async function orNothing<Answer>(work: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** Layers have a colour each. */
const LAYERS_MAX = 5;
const OTHERS = "Other versions";

export function Adoption({ adoption }: { adoption: AdoptionAnswer | undefined }) {
  if (adoption === undefined || adoption.versions.every(({ version }) => version === OTHER_VERSIONS))
    return null;
  const { versions, series, interval } = adoption;
  const drawn = versions
    .map(({ version }) => version)
    .filter((version) => version !== OTHER_VERSIONS)
    .slice(0, LAYERS_MAX);
  const hasOthers = versions.length > drawn.length;
  return (
    <Panel title="Version adoption">
      {series.length > 1 && (
        <AreaChart
          label="Share of downloads by version"
          interval={interval}
          isLastOpen={isRunning({ endDate: adoption.end_date })}
          layers={[...drawn, ...(hasOthers ? [OTHERS] : [])]}
          places={series.map((bucket) => ({
            date: bucket.date,
            values: sharesOf(bucket, { drawn, hasOthers }),
          }))}
          format={(percent) => formatShare(percent / 100)}
        />
      )}
      <Table
        caption="Version adoption"
        columns={[
          "Version",
          { name: METRIC_LABELS.downloads, isNumber: true },
          { name: "Share", isNumber: true },
          { name: METRIC_LABELS.unique_addresses, isNumber: true, isMinor: true },
          { name: "First seen", isMinor: true },
          { name: "End of life", isMinor: true },
        ]}
        rows={versions.map((row) => [
          <bdi>{row.version === OTHER_VERSIONS ? OTHERS : row.version}</bdi>,
          formatFull(row.downloads),
          formatShare(row.share),
          formatFull(row.unique_addresses),
          row.first_seen === null ? "" : <Day date={row.first_seen} />,
          row.end_of_life === null ? "" : <Day date={row.end_of_life} />,
        ])}
      />
    </Panel>
  );
}

function sharesOf(
  { downloads, versions }: AdoptionAnswer["series"][number],
  { drawn, hasOthers }: { drawn: readonly string[]; hasOthers: boolean },
): number[] {
  const counts = drawn.map((version) => versions[version] ?? 0);
  const others = counts.reduce((left, count) => left - count, downloads);
  return [...counts, ...(hasOthers ? [others] : [])].map((count) =>
    downloads === 0 ? 0 : (count / downloads) * 100,
  );
}

function Day({ date }: { date: string }) {
  return <time dateTime={date}>{formatDate(date)}</time>;
}

export function EndsOfLife({ ends }: { ends: readonly EndOfLifeUse[] }) {
  const visit = useVisit();
  if (ends.length === 0) return null;
  const today = dateAt(Date.now());
  return (
    <Panel title="End of life">
      <p class="soft">Usage of these versions in the last {END_OF_LIFE_DAYS} days.</p>
      <Table
        caption="Usage of end-of-life versions"
        columns={[
          "Version",
          "End of life",
          { name: METRIC_LABELS.downloads, isNumber: true },
          { name: METRIC_LABELS.unique_addresses, isNumber: true },
          { name: METRIC_LABELS.companies, isNumber: true },
        ]}
        rows={ends.map(({ version, date, downloads, unique_addresses: addresses, companies }) => [
          <a href={linkToggling(visit, [{ name: "version", value: version }])}>
            <bdi>{version}</bdi>
          </a>,
          <>
            <Day date={date} />{" "}
            {date <= today && <Badge kind={downloads > 0 ? "warn" : "plain"}>Ended</Badge>}
          </>,
          formatFull(downloads),
          formatFull(addresses),
          formatFull(companies),
        ])}
      />
    </Panel>
  );
}
