import type { Shards, ClickHouse } from "../../schemas/shards.js";
import type { ErasedNow, OpenErasure } from "../../schemas/contracts/erasure.js";
import type { OwnerSettlement } from "../../schemas/records/settlement.js";
import { importPages } from "./erase-artifacts.js";
import { startRepeating, type Repetition } from "../../schemas/async/pause.js";
import { countErased, eraseClient, isOnAnyServer, mergeAddresses } from "./erase-client.js";
import { deleteRows } from "../retention/delete-rows.js";

export type IsOfClient = (line: Buffer, client: Pick<OpenErasure, "kind" | "clientId">) => boolean;

export interface ClientEraserDependencies extends Repetition {
  shards: Shards;
  /** Statements of api/erasures/client-erasures.ts. */
  store: {
    dueOwners(): Promise<string[]>;
    dueErasures(ownerId: string): Promise<OpenErasure[]>;
    artifactsOf(ownerId: string): Promise<string[]>;
    /** Imports of the owner that refused lines, a page of them by id. */
    importsWithRefusedLines(
      ownerId: string,
      page: { after: string | undefined; limit: number },
    ): Promise<string[]>;
    /** Runs `work` as the only settlement of the owner in any process; false if there is another one. */
    asOnlySettlement(ownerId: string, work: (owner: OwnerSettlement) => Promise<void>): Promise<boolean>;
    /** Something was found, and is being erased: it becomes due again, after a longer time each time. */
    putFound(id: string, erased: ErasedNow): Promise<void>;
    /** Nothing was found, but lines that were received before may still come. */
    putWaiting(id: string): Promise<void>;
    /** Forgets the client's id. */
    putFinished(id: string): Promise<void>;
  };
  isOfClient: IsOfClient;
  /** Whether every line that was received before a time (ms since the epoch) is enriched. */
  isEnriched: (before: number) => Promise<boolean>;
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
  const clean: OpenErasure[] = [];
  const found: OpenErasure[] = [];
  await store.asOnlySettlement(ownerId, async (owner) => {
    const artifacts = await store.artifactsOf(ownerId);
    for (const erasure of await store.dueErasures(ownerId)) {
      const hadEvents = await eraseClient(shards, erasure, { artifacts, owner });
      (hadEvents ? found : clean).push(erasure);
    }
  });
  for (const erasure of found) await putFound(erasure, 0, dependencies);
  for (const erasure of clean) await eraseRest(ownerId, erasure, dependencies);
}

/** Erases addresses and log entries of a client that has no events any more, and finishes the erasure if it found none. */
async function eraseRest(
  ownerId: string,
  erasure: OpenErasure,
  dependencies: ClientEraserDependencies,
): Promise<void> {
  const { shards, store, isEnriched, onErased } = dependencies;
  const hadAddresses = await mergeAddresses(shards, erasure.id);
  const lines = await eraseLines(ownerId, erasure, dependencies);
  const hasEvents = await isOnAnyServer(shards, erasure, await store.artifactsOf(ownerId));
  await shards.requireEvery();
  if (hadAddresses || lines.found || hasEvents) return putFound(erasure, lines.erased, dependencies);
  if (!erasure.importsSettled || !(await isEnriched(erasure.askedAt))) return store.putWaiting(erasure.id);
  await shards.sync();
  await store.putFinished(erasure.id);
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
  ownerId: string,
  erasure: OpenErasure,
  { shards, store, isOfClient }: ClientEraserDependencies,
): Promise<{ found: boolean; erased: number }> {
  const all = { found: false, erased: 0 };
  for await (const imports of importPages((page) => store.importsWithRefusedLines(ownerId, page)))
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
