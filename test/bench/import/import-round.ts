import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { awaitMerges } from "../common/await-merges.js";
import { writeEventFiles, type EventFiles } from "../common/event-files.js";
import { importFile } from "../common/import-file.js";
import { makePackages } from "../common/make-packages.js";
import { sampleUsage, type Usage } from "../usage/sample-usage.js";
import { secondsSince } from "../common/seconds-since.js";
import { openClickHousePeer } from "./clickhouse-peer.js";
import { countInserts } from "./count-inserts.js";
import type { ImportVariant } from "./import-variants.js";

/** The running program, for a round. */
export interface ImportSetup {
  /** With the token of the account that owns the packages. */
  api: ApiClient;
  clickhouseUrl: string;
  metricsUrl: string;
  /** The process id of the program. */
  pid: number;
  /** The folder for event files. */
  folder: string;
}

export interface ImportRound {
  plainBytes: number;
  gzipBytes: number;
  /** `inserts`: of enrichment into `events`; their blocks become parts. */
  ours: { secondsToAnswer: number; secondsToDone: number; inserts: number; usage: Usage };
  peer: { seconds: number; usage: Usage };
}

export interface RoundOptions extends ImportVariant {
  events: number;
  seed: number;
  /** Starts the names of its packages. */
  name: string;
}

/**
 * Imports lines into new packages, then inserts the same lines as the peer, without those that are no JSON objects.
 * Both start when ClickHouse has no running merges. Throws when either side drops more lines than are broken.
 */
export async function runImportRound(
  setup: ImportSetup,
  { events, seed, name, packages, overridesPercent, addresses }: RoundOptions,
): Promise<ImportRound> {
  const packageIds = await makePackages(setup.api, { name, count: packages });
  const isRepeated = overridesPercent === 100;
  const overrideShare = isRepeated ? 0 : overridesPercent / 100;
  await using files = await writeEventFiles(setup.folder, {
    ...{ events, seed, packageIds, overrideShare, addresses },
  });
  const job = { files, events, packageIds };
  if (isRepeated) await measureImport(setup, { ...job, path: files.gzip.path });
  const ours = await measureImport(setup, { ...job, path: files.gzip.path });
  const peer = await measurePeer(setup, job);
  return { plainBytes: files.plain.bytes, gzipBytes: files.gzip.bytes, ours, peer };
}

interface ImportJob {
  files: EventFiles;
  events: number;
  packageIds: readonly string[];
}

/** Posts a gzip file of events and waits for `done`. Starts when ClickHouse has no running merges. */
export async function measureImport(
  { api, pid, clickhouseUrl, metricsUrl }: Omit<ImportSetup, "folder">,
  { path, events, packageIds }: Omit<ImportJob, "files"> & { path: string },
): Promise<ImportRound["ours"]> {
  await awaitMerges(clickhouseUrl);
  const insertsBefore = await countInserts(metricsUrl);
  using sampler = sampleUsage(pid);
  const { secondsToAnswer, secondsToDone, record } = await importFile(api, { path, packageIds });
  const usage = sampler.finish();
  requireMost(record.events_successfully_imported, { events, what: "the import" });
  const inserts = (await countInserts(metricsUrl)) - insertsBefore;
  return { secondsToAnswer, secondsToDone, inserts, usage };
}

async function measurePeer({ pid, clickhouseUrl }: ImportSetup, { files, events, packageIds }: ImportJob) {
  await using peer = await openClickHousePeer(clickhouseUrl);
  await awaitMerges(clickhouseUrl);
  using sampler = sampleUsage(pid);
  const startedAt = performance.now();
  await peer.insert({ path: files.objects.path, packageIds });
  const seconds = secondsSince(startedAt);
  const usage = sampler.finish();
  requireMost(await peer.countEvents(), { events, what: "the peer" });
  return { seconds, usage };
}

// The generator breaks 2 % of the lines. The two sides may judge some of them differently.
const VALID_SHARE_MIN = 0.95;

/** Rejects the result of a side that drops lines, because that makes it fast. */
function requireMost(taken: number, { events, what }: { events: number; what: string }): void {
  if (taken >= events * VALID_SHARE_MIN && taken <= events) return;
  throw new Error(`${what} inserted ${taken} events for ${events} lines`);
}
