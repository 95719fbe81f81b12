import { count, numbered } from "../../schemas/records/numbered.js";
import { formatSize } from "../../schemas/records/format-size.js";
import type { AggregateV1 } from "../../schemas/contracts/aggregate.js";
import type { CompanyRecord, FunnelRecord, FunnelRunRecord } from "../../schemas/contracts/funnel.js";
import type { PackageV1 } from "../../schemas/contracts/package.js";
import { DAY_MS, addDays, dateAt } from "../../schemas/date-range.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { aggregateTables } from "./aggregate-tables.js";
import type { ApiClient } from "./api-client.js";
import { type DemoReceiver, makeWebhooks, mendDelivery } from "./demo-webhooks.js";
import { generateBody } from "./generate-events.js";
import { DEMO_DAYS } from "./generate-stories.js";
import { importStories, noteReleases } from "./import-stories.js";

interface MainJob {
  organization: string;
  events: number;
  seed: number;
  /** Milliseconds since the epoch. The events are from the 120 days before this day, more on later ones. */
  now: number;
  print: (text: string) => void;
  /** Prints what only `--verbose` shows. */
  detail: (text: string) => void;
  grantExport: (owner: string) => Promise<unknown>;
  /** Where webhooks may go; without it there are none. */
  receiver: DemoReceiver | undefined;
}

export interface MainJobDone {
  packages: readonly PackageV1[];
  pixel: string;
  range: { startDate: string; endDate: string };
}

const ROWS_MAX = 6;

/** Does the main job over HTTP: organization, packages, imports, aggregates, companies, webhooks. Prints its progress. */
export async function runMainJob(api: ApiClient, job: MainJob): Promise<MainJobDone> {
  const { organization, detail } = job;
  const packages = await makePackages(api, job);
  const { id: pixel } = await api.post<{ id: string }>(`/v2/pixels/${organization}`, { name: "docs" });
  await job.grantExport(organization);
  detail(
    `Created organization ${organization} with ${packages.map(({ name }) => name).join(", ")} and the ` +
      "pixel docs. Export enabled.\n\n",
  );
  const range = { startDate: dateAt(job.now - DEMO_DAYS * DAY_MS), endDate: dateAt(job.now) };
  const sent = { ...job, packages, pixel, from: range.startDate };
  detail(outcomeOf(await importEvents(api, sent)));
  await importStories(api, { ...sent, packages: packagesOf(sent) });
  await noteReleases(api, sent);
  const lines = await api.readAggregates(organization, range);
  detail(`\nAggregates from ${range.startDate} up to ${range.endDate}: ${lines.length} records.\n`);
  for (const made of packages) detail(packageText(made, lines));
  for (const made of packages) detail(await csvText(api, made, range));
  const { receiver } = job;
  const refusing = receiver && (await makeWebhooks(api, { owner: organization, receiver }));
  detail(await companyStages(api, organization));
  await makeRoute(api, packages);
  if (refusing !== undefined) detail(await mendDelivery(api, { owner: organization, webhook: refusing }));
  return { packages, pixel, range };
}

async function makePackages(api: ApiClient, { organization }: MainJob): Promise<PackageV1[]> {
  await api.post("/v1/organizations", {
    name: organization,
    description: "Created by the demo",
    billingEmail: "billing@example.org",
  });
  const made: PackageV1[] = [];
  for (const wanted of PACKAGES) {
    made.push(await api.post<PackageV1>(`/v1/organizations/${organization}/packages`, wanted));
  }
  return made;
}

const PACKAGES: readonly ({ libraryType: LibraryType } & Record<string, string>)[] = [
  {
    name: "toolkit-server",
    libraryType: "docker",
    shortDescription: "A container image",
    backendUrl: "https://registry.example.org/acme/toolkit-server",
  },
  {
    name: "toolkit",
    libraryType: "pypi",
    shortDescription: "A Python package",
    repositoryURL: "https://pypi.org/simple/",
  },
  { name: "toolkit-cli", libraryType: "other", shortDescription: "Files for download" },
];

/** The host in the line for live collection that the demo suggests. */
export const DEMO_HOST = "get.acme.example";

async function makeRoute(api: ApiClient, packages: readonly PackageV1[]): Promise<void> {
  const files = packages.find(({ libraryType }) => libraryType === "other");
  if (files === undefined) return;
  await api.post(`/v1/packages/${files.uuid}/routes`, {
    templatePath: "/{version}/{+file}",
    outgoingUrl: "https://files.acme.example/{version}/{+file}",
  });
  await api.post(`/v1/packages/${files.uuid}/domains`, { name: DEMO_HOST });
}

interface ImportJob extends MainJob {
  packages: readonly PackageV1[];
  pixel: string;
  from: string;
}

async function importEvents(api: ApiClient, job: ImportJob): Promise<EventImport> {
  const { organization, events, seed, from, print } = job;
  const pixels = [{ id: job.pixel }];
  const artifacts = { packages: packagesOf(job), pixels };
  const body = generateBody({ seed, count: events, ...artifacts, from, days: DEMO_DAYS, isGrowing: true });
  print(`Importing ${count(events)} generated events of ${DEMO_DAYS} days ...\n`);
  job.detail(
    "2 % of the lines are invalid, 10 % replace earlier events; the body is compressed with gzip.\n",
  );
  const progress = openProgress(print);
  const startedAt = performance.now();
  const started = await api.importBody(`/v2/${organization}/import`, counted(body, progress.sent), {
    gzip: true,
  });
  const record = await api.pollToDone(started, { onProgress: (seen) => progress.imported(seen, events) });
  if (record.status !== "done")
    throw new Error(`the import ended as ${record.status}: ${JSON.stringify(record)}`);
  const seconds = (performance.now() - startedAt) / 1000;
  progress.finish(
    `done in ${seconds.toFixed(1)} s, ${count(Math.round(record.events_total / seconds))} events/s`,
  );
  return record;
}

function packagesOf({ packages }: ImportJob) {
  return packages.map(({ uuid, libraryType = "other" }) => ({ id: uuid, libraryType }));
}

function* counted(blocks: Iterable<Buffer>, seen: (bytes: number) => void): Generator<Buffer> {
  let bytes = 0;
  for (const block of blocks) {
    yield block;
    bytes += block.length;
    seen(bytes);
  }
}

const SAMPLES_MAX = 3;

function outcomeOf(record: EventImport): string {
  const { events_total, events_successfully_imported, events_failed_to_import } = record;
  const entries = [
    ...record.error_log_sample.slice(0, SAMPLES_MAX),
    ...record.warning_log_sample.slice(0, SAMPLES_MAX),
  ];
  const lines = entries.map((entry) => {
    return `    ${entry.class} in line ${entry.line}: ${entry.type}, ${entry.human_friendly_message}\n`;
  });
  return (
    `  ${numbered(events_total, "event")}: ${events_successfully_imported} imported, ` +
    `${events_failed_to_import} rejected. From the import's log:\n${lines.join("")}`
  );
}

const RAW_BREAKDOWNS = ["total", "company", "client", "version", "variable"];

function packageText({ uuid, name, libraryType }: PackageV1, all: readonly AggregateV1[]): string {
  const lines = all.filter((line) => line.package === uuid);
  const raw = RAW_BREAKDOWNS.flatMap((wanted) => lines.find(({ breakdown }) => breakdown === wanted) ?? []);
  return (
    `\n${name} (${libraryType}, ${uuid})\n\n` +
    aggregateTables(lines, { rowsMax: ROWS_MAX }) +
    `\n  From the export, ${raw.length} of ${lines.length} lines:\n` +
    raw.map((line) => `    ${JSON.stringify(line)}\n`).join("")
  );
}

const CSV_ROWS = 3;

async function csvText(
  api: ApiClient,
  { uuid, name }: PackageV1,
  { endDate }: { endDate: string },
): Promise<string> {
  const startDate = addDays(endDate, -1);
  const path = `/v1/packages/${uuid}/events/${encodeURIComponent(name)}.csv?startDate=${startDate}&endDate=${endDate}`;
  const lines = await api.readLines(path);
  const shown = lines.slice(0, CSV_ROWS + 1);
  const rows = shown.map((line) => `    ${line}\n`).join("");
  return `\nEvents of ${name} on ${startDate} as CSV, ${shown.length - 1} of ${lines.length - 1} rows:\n${rows}`;
}

const COMPANIES_MAX = 5;

/** Places the companies of an owner now instead of at the next hour, and tells where they are. */
async function companyStages(api: ApiClient, owner: string): Promise<string> {
  const run = await api.post<FunnelRunRecord>(`/v2/${owner}/funnel/run`, {});
  const { stages } = await api.get<FunnelRecord>(`/v2/${owner}/funnel`);
  const list = `/v2/${owner}/companies?sort=score&per_page=${COMPANIES_MAX}`;
  const { companies } = await api.get<{ companies: CompanyRecord[] }>(list);
  const counts = Object.entries(stages).filter(([, count]) => count > 0);
  const rows = companies.map(({ name, domain, stage, downloads }) => {
    return `    ${`${name} (${domain})`.padEnd(52)} ${stage ?? "no stage"}, ${downloads} downloads\n`;
  });
  return (
    `\nCompanies by funnel stage: ${counts.map(([stage, count]) => `${count} at ${stage}`).join(", ")}.\n  ` +
    `${run.changes} stage changes, all sent to webhooks. Companies with the highest scores:\n` +
    rows.join("")
  );
}

interface Progress {
  sent: (bytes: number) => void;
  imported: (record: EventImport, expected: number) => void;
  finish: (text: string) => void;
}

const REWRITE_MS = 200;
const WIDTH = 78;

/** Rewrites the line at most five times a second on a terminal. Elsewhere only the last text is printed. */
function openProgress(print: (text: string) => void, terminal = process.stdout.isTTY): Progress {
  let shownAt = -Infinity;
  const show = (text: string) => {
    if (!terminal || performance.now() - shownAt < REWRITE_MS) return;
    shownAt = performance.now();
    print(`\r  ${text.padEnd(WIDTH)}`);
  };
  return {
    sent: (bytes) => show(`sent ${formatSize(bytes)}`),
    imported: (record, expected) => {
      const finished = record.events_successfully_imported + record.events_failed_to_import;
      show(`imported ${count(finished)} of ${count(expected)}`);
    },
    finish: (text) => print(`${terminal ? "\r" : ""}  ${text.padEnd(terminal ? WIDTH : 0)}\n`),
  };
}
