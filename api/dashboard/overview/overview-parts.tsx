import { numbered } from "../../../schemas/records/numbered.js";
import type { CompanyRecord } from "../../../schemas/contracts/funnel.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import {
  DAYS_INTERVALS,
  type PackageStatistics,
  type Statistics,
} from "../../../schemas/contracts/statistics.js";
import type { WebhookRecord } from "../../../schemas/contracts/webhook.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { DAY_MS, type DateRange } from "../../../schemas/date-range.js";
import { path } from "../../web/address.js";
import { type Visit, mayManage, useVisit } from "../../web/page.js";
import { TYPES, ifAllowed, packagesOf } from "../../web/artifacts-of.js";
import type { Problem } from "../../../schemas/problem.js";
import { type ViewState, readState } from "../../web/statistics/view-state.js";
import { Sparkline } from "../../web/charts/area-chart.js";
import { Panel } from "../../web/parts/panel.js";
import { Time } from "../../web/parts/time.js";
import { formatFull, formatTime } from "../../web/parts/format.js";
import { Pager, Table } from "../../web/parts/table.js";
import type { Note } from "../../web/charts/notes.js";
import { loadNotes } from "../statistics/load-notes.js";
import { isMendable } from "../../web/statistics/load-statistics.js";
import { isRunning } from "../../web/statistics/page-range.js";
import { type Reported, loadReported } from "../statistics/reported-panel.js";
import { NotedChange } from "../statistics/noted-change.js";
import { noteOfSpike } from "../statistics/noted-days.js";
import { StageBadge } from "../companies/stage-labels.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";

export interface Overview {
  packages: readonly PackageV1[];
  pixels: readonly PixelRecord[];
  statistics: Statistics;
  byPackage: PackageStatistics;
  state: ViewState;
  /** The address asks for days that cannot be shown: these are the usual ones. */
  problem?: Problem;
  /** At a stage since less than a week; absent if the viewer may not see companies. */
  newStages: readonly CompanyRecord[] | undefined;
  /** First seen in the range, newest first; absent if the viewer may not see companies. */
  newCompanies: readonly CompanyRecord[] | undefined;
  /** Only for those who manage. */
  imports: readonly EventImport[];
  disabledWebhooks: readonly WebhookRecord[];
  reported: Reported | undefined;
  notes: readonly Note[];
  range: DateRange;
}

const WEEK_MS = 7 * DAY_MS;
const RECENT_IMPORTS = 100;

/** Throws `not-found` for an owner of whom the viewer may see nothing. */
export async function loadOverview(visit: Visit): Promise<Overview> {
  try {
    return await loadRange(visit, readState(visit, { intervals: DAYS_INTERVALS }));
  } catch (error) {
    if (!isMendable(error)) throw error;
    visit.ctx.status = error.status;
    const state = readState({ ...visit, query: new URLSearchParams() });
    return { ...(await loadRange(visit, state)), problem: error };
  }
}

const COMPARED = "previous-weekdays";

/** Rows of the lists, among which new ones are looked for. */
const LIST_ROWS = 100;

async function loadRange(visit: Visit, state: ViewState, now = new Date()): Promise<Overview> {
  const { api, owner } = visit;
  const { startDate, endDate, automated } = state;
  const range = { startDate, endDate };
  const managed = mayManage(owner);
  const [packages, pixels, statistics, byPackage, companies, imports, webhooks, reported, notes] =
    await Promise.all([
      packagesOf(visit),
      ifAllowed(api<{ pixels: PixelRecord[] }>({ path: path`/v2/pixels/${owner.name}` })),
      api<Statistics>({
        path: path`/v2/${owner.name}/stats`,
        query: { ...range, automated, compare: COMPARED, limit: LIST_ROWS },
      }),
      api<PackageStatistics>({
        path: path`/v2/${owner.name}/stats/packages`,
        query: { ...range, automated, compare: COMPARED },
      }),
      ifAllowed(
        api<{ companies: CompanyRecord[] }>({
          path: path`/v2/${owner.name}/companies`,
          query: { sort: "last_seen", per_page: 1000 },
        }),
      ),
      managed
        ? ifAllowed(
            api<{ event_imports: EventImport[] }>({
              path: path`/v2/imports/${owner.name}`,
              query: { per_page: RECENT_IMPORTS },
            }),
          )
        : undefined,
      managed
        ? ifAllowed(api<{ webhooks: WebhookRecord[] }>({ path: path`/v2/${owner.name}/webhooks` }))
        : undefined,
      loadReported(visit, { range }),
      loadNotes(visit, { range }),
    ]);
  return {
    state,
    reported,
    notes,
    range,
    packages,
    pixels: pixels?.pixels ?? [],
    statistics,
    byPackage,
    newStages: companies && newest(companies.companies, now),
    newCompanies: companies && firstSeenIn(companies.companies, range),
    imports: imports?.event_imports ?? [],
    disabledWebhooks:
      webhooks?.webhooks.filter(({ enabled, disabled_reason }) => !enabled && disabled_reason) ?? [],
  };
}

function newest(companies: readonly CompanyRecord[], now: Date): CompanyRecord[] {
  const sinceMs = ({ since }: CompanyRecord) => Date.parse(since ?? "") || 0;
  return companies
    .filter((each) => each.stage !== undefined && sinceMs(each) > now.getTime() - WEEK_MS)
    .sort((one, other) => sinceMs(other) - sinceMs(one));
}

function firstSeenIn(companies: readonly CompanyRecord[], { startDate, endDate }: DateRange) {
  const firstOf = ({ first_seen: first = "" }: CompanyRecord) => first;
  return companies
    .filter((each) => firstOf(each) >= startDate && firstOf(each) < endDate)
    .sort((one, other) => (firstOf(one) > firstOf(other) ? -1 : 1));
}

export function Warnings({ imports, disabledWebhooks }: Overview) {
  const { href, owner } = useVisit();
  const running = imports.filter(({ status }) => status === "importing");
  const weekAgo = new Date(Date.now() - 7 * DAY_MS).toISOString();
  const faulty = imports.filter(
    ({ status, events_failed_to_import: failed, created_at: at }) =>
      status === "done" && failed > 0 && at > weekAgo,
  );
  return (
    <>
      {running.map(({ id, events_total: total }) => (
        <p class="notice" key={id}>
          <a href={href(path`/o/${owner.name}/imports/${id}`)}>Import running</a>: {numbered(total, "event")}{" "}
          so far.
        </p>
      ))}
      {faulty.slice(0, 3).map(({ id, events_failed_to_import: failed, created_at: at }) => (
        <p class="notice warning" key={id}>
          <a href={href(path`/o/${owner.name}/imports/${id}`)}>Import of {formatTime(at)}</a>:{" "}
          {numbered(failed, "line")} rejected.
        </p>
      ))}
      {disabledWebhooks.map(({ id, url, disabled_reason: reason }) => (
        <p class="notice warning" key={id}>
          <a href={href(path`/o/${owner.name}/webhooks/${id}`)}>Webhook disabled</a>: {url}. {reason}
        </p>
      ))}
    </>
  );
}

/** An owner may have thousands: a table of all of them takes seconds to make, and nobody reads it. */
const PACKAGE_ROWS = 100;

export function PackageTable({ packages, byPackage, notes, range }: Overview) {
  const { href, owner, query } = useVisit();
  const counts = new Map(byPackage.packages.map((each) => [each.package, each]));
  const sorted = packages
    .map((found) => ({ found, counted: counts.get(found.uuid) }))
    .sort((one, other) => (other.counted?.downloads ?? 0) - (one.counted?.downloads ?? 0));
  const start = 1 + sorted.findIndex(({ found }) => found.uuid === query.get("after"));
  const rows = sorted.slice(start, start + PACKAGE_ROWS);
  const isLast = start + PACKAGE_ROWS >= sorted.length;
  return (
    <Panel title="Packages">
      <Table
        caption="Packages"
        columns={[
          "Package",
          { name: "Type", isMinor: true },
          "By day",
          { name: METRIC_LABELS.downloads, isNumber: true },
          { name: "Change", isNumber: true },
        ]}
        rows={rows.map(({ found, counted }) => [
          <a
            href={href(
              path`/o/${owner.name}/packages/${addressed(found.name, packages) ? found.name : found.uuid}`,
            )}
          >
            <bdi>{found.name}</bdi>
          </a>,
          <span class="soft">{TYPES[found.libraryType ?? "other"]}</span>,
          <Sparkline values={counted?.days ?? []} isLastOpen={isRunning({ endDate: byPackage.end_date })} />,
          formatFull(counted?.downloads ?? 0),
          counted && (
            <NotedChange
              ratio={counted.downloads === 0 && counted.change === null ? 0 : counted.change}
              note={noteOfSpike(counted, { notes, range })}
            />
          ),
        ])}
        empty={
          mayManage(owner) ? (
            <a href={href(path`/o/${owner.name}/new`)}>Create your first package</a>
          ) : (
            "No packages yet."
          )
        }
      />
      <Pager after={isLast ? undefined : rows.at(-1)?.found.uuid} />
    </Panel>
  );
}

/** A name makes the better address, where it is the only one and no id. */
function addressed(name: string, packages: Overview["packages"]): boolean {
  return packages.filter((each) => each.name === name).length === 1;
}

export function NewStages({ newStages }: Overview) {
  const { href, owner } = useVisit();
  if (newStages === undefined) return null;
  return (
    <Panel
      title="Stage changes this week"
      links={<a href={href(path`/o/${owner.name}/companies`)}>All companies</a>}
    >
      <Table
        caption="Companies with a stage change this week"
        columns={["Company", "Stage", "Since"]}
        rows={newStages.slice(0, 10).map(({ domain, name, stage, since }) => [
          <a href={href(path`/o/${owner.name}/companies/${domain}`)}>
            <bdi>{name}</bdi>
          </a>,
          <StageBadge stage={stage} />,
          since && <Time at={since} />,
        ])}
        empty="No stage changes this week. Stages are updated every hour."
      />
    </Panel>
  );
}

export function PixelTable({ pixels }: Overview) {
  const { href, owner } = useVisit();
  if (pixels.length === 0) return null;
  return (
    <Panel title="Pixels">
      <Table
        caption="Pixels"
        columns={["Pixel", "Created"]}
        rows={pixels.map(({ id, name, created_at: at }) => [
          <a href={href(path`/o/${owner.name}/pixels/${id}`)}>
            <bdi>{name}</bdi>
          </a>,
          <Time at={at} />,
        ])}
      />
    </Panel>
  );
}
