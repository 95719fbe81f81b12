import type { Shards, ClickHouse } from "../../schemas/shards.js";
import type { ErasedNow, ErasureWait, OpenErasure } from "../../schemas/contracts/erasure.js";
import { partitionsOf } from "../../schemas/records/event-log.js";
import type { OwnerSettlement } from "../../schemas/records/settlement.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { syncSince } from "../../schemas/sync-since.js";
import { importPages } from "./erase-artifacts.js";
import { startRepeating, type Repetition } from "../../schemas/async/pause.js";
import {
  countErased,
  differsFromEvents,
  eraseClient,
  isOnAnyServer,
  liveStampOf,
  mergeAddresses,
  recountErased,
} from "./erase-client.js";
import { deleteRows } from "../retention/delete-rows.js";

export type IsOfClient = (line: Buffer, client: Pick<OpenErasure, "kind" | "clientId">) => boolean;

export interface ClientEraserDependencies extends Repetition {
  shards: Shards;
  /** Statements of api/features/erasures/client-erasures.ts. */
  store: {
    dueOwners(): Promise<string[]>;
    dueErasures(ownerId: string): Promise<OpenErasure[]>;
    artifactsOf(ownerId: string): Promise<string[]>;
    /** Imports that it is about and that refused lines, a page of them by id. */
    importsWithRefusedLines(
      erasure: string,
      page: { after: string | undefined; limit: number },
    ): Promise<string[]>;
    /** Runs `work` as the only settlement of the owner in any process; false if there is another one. */
    asOnlySettlement(ownerId: string, work: (owner: OwnerSettlement) => Promise<void>): Promise<boolean>;
    /** The first day whose events are kept; undefined while all are. */
    removedBefore(): Promise<string | undefined>;
    /** Something was found, and is being erased: it becomes due again, after a longer time each time. */
    putFound(id: string, erased: ErasedNow): Promise<void>;
    /** Why live events that were received before may not be in the event log, or lines of imports not in the tables. */
    liveToCome(id: string): Promise<ErasureWait | undefined>;
    importsToCome(id: string): Promise<ErasureWait | undefined>;
    /** It is looked at again soon, and erases nothing meanwhile. */
    putWaiting(id: string, reason: ErasureWait): Promise<void>;
    /** The ends behind the imports that it is about; undefined where those of one are not known. */
    importEnds(id: string): Promise<number[] | undefined>;
    putLogEnds(id: string, ends: readonly number[]): Promise<void>;
    /** Begins to wait for imports. */
    putLiveStamp(id: string, stamp: number): Promise<void>;
    /** Ends the waiting: what is found next is the last. */
    putComplete(id: string): Promise<void>;
    /** Forgets the client's id. */
    putFinished(id: string): Promise<void>;
  };
  isOfClient: IsOfClient;
  log: {
    ends(): Promise<number[]>;
    /** Whether enrichment has written every record in front of these ends. */
    isEnriched(ends: readonly number[]): Promise<boolean>;
  };
  /** Called when it begins to wait for something else. */
  onWaiting?: (erasure: string, reason: ErasureWait) => void;
  onErased?: (erasure: string) => void;
}

/** Erases the events of clients that owners asked for. Any number of processes may run it. */
export function startClientEraser(dependencies: ClientEraserDependencies): AsyncDisposable {
  return startRepeating(async (signal) => {
    for (const ownerId of await dependencies.store.dueOwners()) {
      if (signal.aborted) return;
      await eraseOf(ownerId, dependencies);
    }
  }, dependencies);
}

/** Blocks the owner's settlement while versions are erased, and not for the rest. */
async function eraseOf(ownerId: string, dependencies: ClientEraserDependencies): Promise<void> {
  const { shards, store } = dependencies;
  for (const erasure of await store.dueErasures(ownerId))
    if (erasure.waitingFor !== null) await lookForMore(ownerId, erasure, dependencies);
  const clean: OpenErasure[] = [];
  const found: OpenErasure[] = [];
  const unfinished: OpenErasure[] = [];
  await store.asOnlySettlement(ownerId, async (owner) => {
    const artifacts = await store.artifactsOf(ownerId);
    for (const erasure of await store.dueErasures(ownerId)) {
      if (erasure.waitingFor !== null) continue;
      const round = await eraseClient(shards, erasure, { artifacts, owner });
      if (round === "nothing") clean.push(erasure);
      else if (round === "deleting") found.push(erasure);
      else if (erasure.liveStamp === null) unfinished.push(erasure);
      else {
        // Every batch of before is written: what a table lacks now, nobody will complete.
        await recountErased(shards, erasure, owner);
        found.push(erasure);
      }
    }
  });
  for (const erasure of unfinished) await lookForMore(ownerId, erasure, dependencies);
  for (const erasure of found) await putFound(erasure, 0, dependencies);
  for (const erasure of clean) await eraseRest(ownerId, erasure, dependencies);
}

/**
 * Waits until all that was received before is in the tables: first live events, in whatever buffer they are, then imports.
 * No clock decides, and nothing is waited for only so long. Each time it is a position in the log, taken when nothing more
 * can come in front of it.
 */
async function lookForMore(
  ownerId: string,
  erasure: OpenErasure,
  dependencies: ClientEraserDependencies,
): Promise<void> {
  const { shards, store } = dependencies;
  const { id, liveStamp, logEnds, waitingFor } = erasure;
  const reason = await stillToCome(erasure, dependencies);
  if (reason !== undefined) {
    if (reason !== waitingFor) dependencies.onWaiting?.(id, reason);
    await store.putWaiting(id, reason);
    if (reason === "event-log" && logEnds === null)
      await store.putLogEnds(id, await endsFor(erasure, dependencies));
  } else if (liveStamp === null) {
    const artifacts = await store.artifactsOf(ownerId);
    await store.putLiveStamp(id, await liveStampOf(shards, erasure, artifacts));
  } else await store.putComplete(id);
}

/** Live events of all owners share the records of one queue. What others have imported is not waited for. */
async function endsFor(
  { id, liveStamp }: OpenErasure,
  { store, log }: ClientEraserDependencies,
): Promise<readonly number[]> {
  const ends = await log.ends();
  if (liveStamp !== null) return (await store.importEnds(id)) ?? ends;
  const express = partitionsOf("express", ends.length);
  return ends.map((end, partition) => (express.includes(partition) ? end : 0));
}

/** The log first: a dead letter is stored before the log says that its batch is written. */
async function stillToCome(
  { id, liveStamp, logEnds }: OpenErasure,
  { store, log }: ClientEraserDependencies,
): Promise<ErasureWait | undefined> {
  const isEnriched = logEnds !== null && (await log.isEnriched(logEnds));
  const reason = liveStamp === null ? await store.liveToCome(id) : await store.importsToCome(id);
  return reason ?? (isEnriched ? undefined : "event-log");
}

/**
 * Erases addresses and log entries of a client that has no events any more. If it found none, the erasure waits for the rest
 * or is finished.
 */
async function eraseRest(
  ownerId: string,
  erasure: OpenErasure,
  dependencies: ClientEraserDependencies,
): Promise<void> {
  const { shards, store, onErased } = dependencies;
  const start = await shards.startedAt();
  const hadAddresses = await mergeAddresses(shards, erasure.id);
  const lines = await eraseLines(erasure, dependencies);
  const hasEvents = await isOnAnyServer(shards, erasure, await store.artifactsOf(ownerId));
  await shards.requireEvery();
  if (hadAddresses || lines.found || hasEvents) return putFound(erasure, lines.erased, dependencies);
  if (erasure.liveStamp === null) return lookForMore(ownerId, erasure, dependencies);
  if (await differsFromEvents(shards, erasure, await store.removedBefore())) {
    await store.asOnlySettlement(ownerId, (owner) => recountErased(shards, erasure, owner));
    return putFound(erasure, lines.erased, dependencies);
  }
  await syncSince(shards, start);
  await store.putFinished(erasure.id);
  passFaultPoint("erasure-finished");
  onErased?.(erasure.id);
}

async function putFound(
  { id }: OpenErasure,
  lines: number,
  { shards, store }: ClientEraserDependencies,
): Promise<void> {
  await store.putFound(id, { events: await countErased(shards, id), lines });
}

async function eraseLines(
  erasure: OpenErasure,
  { shards, store, isOfClient }: ClientEraserDependencies,
): Promise<{ found: boolean; erased: number }> {
  const all = { found: false, erased: 0 };
  for await (const imports of importPages((page) => store.importsWithRefusedLines(erasure.id, page)))
    for (const { servers } of shards.shards)
      for (const [index, server] of servers.entries()) {
        const one = await eraseRefusedLines(server, imports, (line) => isOfClient(line, erasure));
        all.found ||= one.found;
        // The other servers of a shard have the same lines, until they deleted them as well.
        if (index === 0) all.erased += one.erased;
      }
  return all;
}

/** A mutation names so many lines at a time; a later round names the rest. */
const LINES_MAX = 1_000;

/**
 * Erases the texts of these imports' refused lines that a condition picks; the entries about them stay.
 * Answers whether there were any, and how many are being erased: call it again until there are none.
 */
export async function eraseRefusedLines(
  clickhouse: ClickHouse,
  imports: readonly string[],
  isWanted: (line: Buffer) => boolean,
): Promise<{ found: boolean; erased: number }> {
  const ids: string[] = [];
  const lines: number[] = [];
  const answer = await clickhouse.query({
    query: REFUSED_LINES,
    query_params: { imports },
    format: "JSONEachRow",
  });
  for await (const rows of answer.stream<RefusedLine>())
    for (const row of rows) {
      const { id, line, bytes } = row.json();
      if (ids.length >= LINES_MAX || !isWanted(Buffer.from(bytes, "base64"))) continue;
      ids.push(id);
      lines.push(Number(line));
    }
  if (ids.length === 0) return { found: false, erased: 0 };
  const { rows } = await deleteRows(clickhouse, {
    table: "import_log",
    update: "line_bytes = ''",
    where: `class = 'error' AND line_bytes != '' AND import_id IN {ids:Array(UUID)}
      AND (import_id, line) IN (SELECT arrayJoin(arrayZip({ids:Array(UUID)}, {lines:Array(UInt64)})))`,
    params: { ids, lines },
  });
  return { found: true, erased: rows };
}

interface RefusedLine {
  id: string;
  line: string;
  bytes: string;
}

const REFUSED_LINES = `
  SELECT toString(import_id) AS id, toString(import_log.line) AS line, base64Encode(line_bytes) AS bytes
  FROM import_log
  WHERE import_id IN {imports:Array(UUID)} AND class = 'error' AND line_bytes != ''`;
