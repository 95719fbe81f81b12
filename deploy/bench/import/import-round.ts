import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { ApiClient } from "../../demo/api-client.js";
import { awaitCalm } from "../common/await-calm.js";
import { writeEventFiles, type EventFiles } from "../common/event-files.js";
import { postFile } from "../common/post-file.js";
import { watchUsage, type Usage } from "../common/watch-usage.js";
import { openClickHousePeer } from "./clickhouse-peer.js";

/** What a round needs of the running program. */
export interface ImportGround {
  /** As an account that owns the packages. */
  api: ApiClient;
  owner: string;
  clickhouseUrl: string;
  /** The program's own process. */
  pid: number;
  /** Takes the files of events. */
  folder: string;
}

export interface ImportRound {
  plainBytes: number;
  gzipBytes: number;
  ours: { secondsToAnswer: number; secondsToDone: number; usage: Usage };
  peer: { seconds: number; usage: Usage };
}

const DONE_MS_MAX = 3_600_000;

/**
 * The same lines, into a package without events: first by an import, then by the peer, who is spared those that are no
 * JSON objects. Each finds the server calm. Throws when either leaves out more lines than are broken.
 */
export async function runImportRound(
  ground: ImportGround,
  { events, seed, name }: { events: number; seed: number; name: string },
): Promise<ImportRound> {
  const { uuid } = await ground.api.post<PackageV1>("/v1/packages", { ...PACKAGE, name });
  await using files = await writeEventFiles(ground.folder, { events, seed, packageId: uuid });
  const job = { files, events, packageId: uuid };
  const ours = await measureImport(ground, { ...job, path: files.gzip.path });
  const peer = await measurePeer(ground, job);
  return { plainBytes: files.plain.bytes, gzipBytes: files.gzip.bytes, ours, peer };
}

export const PACKAGE = { shortDescription: "Made by the benchmark", libraryType: "other" };

interface ImportJob {
  files: EventFiles;
  events: number;
  packageId: string;
}

/** Posts a gzip file of events and waits for `done`, on a server that is calm. */
export async function measureImport(
  { api, owner, pid, clickhouseUrl }: Omit<ImportGround, "folder">,
  { path, events, packageId }: Omit<ImportJob, "files"> & { path: string },
): Promise<ImportRound["ours"]> {
  const url = new URL(`/v2/packages/${owner}/${packageId}/import`, api.url);
  const headers = {
    Authorization: `Bearer ${api.token}`,
    "Content-Type": "application/ndjson",
    "Content-Encoding": "gzip",
  };
  await awaitCalm(clickhouseUrl);
  using watch = watchUsage(pid);
  const startedAt = performance.now();
  const { text } = await postFile({ url, headers, path });
  const secondsToAnswer = secondsSince(startedAt);
  const record = await api.pollToDone(JSON.parse(text) as EventImport, { timeoutMs: DONE_MS_MAX });
  const secondsToDone = secondsSince(startedAt);
  const usage = watch.finish();
  if (record.status !== "done")
    throw new Error(`the import ended as ${record.status}: ${JSON.stringify(record)}`);
  requireMost(record.events_successfully_imported, { events, what: "the import" });
  return { secondsToAnswer, secondsToDone, usage };
}

async function measurePeer({ pid, clickhouseUrl }: ImportGround, { files, events, packageId }: ImportJob) {
  await using peer = await openClickHousePeer(clickhouseUrl);
  await awaitCalm(clickhouseUrl);
  using watch = watchUsage(pid);
  const startedAt = performance.now();
  await peer.insert({ path: files.objects.path, packageId });
  const seconds = secondsSince(startedAt);
  const usage = watch.finish();
  requireMost(await peer.countEvents(), { events, what: "the peer" });
  return { seconds, usage };
}

// The generator breaks 2 % of the lines; the two sides need not agree on each of them.
const SOUND_SHARE_MIN = 0.95;

/** A side that drops lines is fast: that must not pass for a result. */
function requireMost(taken: number, { events, what }: { events: number; what: string }): void {
  if (taken >= events * SOUND_SHARE_MIN && taken <= events) return;
  throw new Error(`${what} made ${taken} events of ${events} lines`);
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
