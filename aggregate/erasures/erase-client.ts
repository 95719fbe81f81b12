import { v7 as uuidv7 } from "uuid";
import type { OpenErasure } from "../../schemas/contracts/erasure.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { NIL_UUID } from "../../schemas/formats.js";
import { LINES_IN_CHUNK, leastVersion } from "../../schemas/records/event-id.js";
import type { OwnerSettlement } from "../../schemas/records/settlement.js";
import type { ClickHouse, Shard, Shards } from "../../schemas/shards.js";
import { type Starts, syncSince } from "../../schemas/sync-since.js";
import { forgetAddresses } from "../address-sets/forget-addresses.js";
import { hasRow } from "../queries/has-row.js";
import { sqlName, uuidsLiteral } from "../queries/sql-literals.js";
import { readQuery } from "../read-query.js";
import { deleteRows } from "../retention/delete-rows.js";
import { differs, recount, type SelectedVersions } from "../settlement/recount.js";
import { applyFound, recountStaged, fewDeltas } from "../settlement/settle.js";

/** Settling so many takes ClickHouse about 250 MB. */
const VERSIONS_MAX = 500_000;

/** A client, and up to which receipt its events go. */
export type ErasedClient = Pick<OpenErasure, "id" | "kind" | "clientId" | "stamp" | "imports" | "liveStamp">;

export interface ErasureScope {
  /** Every package and pixel of the owner, UUIDs. */
  artifacts: readonly string[];
  owner: OwnerSettlement;
}

/**
 * `deleting`: call it again until there is nothing. `unfinished`: a batch with events of the client is not in all tables yet, so
 * nothing was deleted.
 */
export type ErasureRound = "nothing" | "deleting" | "unfinished";

/**
 * Notes the versions of a client's events, settles them as those of a retracted import, and deletes their rows. Deletes none
 * before all of them are settled: the repetition of a batch that was cut short completes the views, and settlement can
 * subtract only rows that are there. The caller must be the only one that settles for the owner.
 */
export async function eraseClient(
  shards: Shards,
  erasure: ErasedClient,
  { artifacts, owner }: ErasureScope,
): Promise<ErasureRound> {
  if (artifacts.length === 0 || !(await hasRows(shards.all, erasure, artifacts))) return "nothing";
  // A batch that was cut short settles what is erased here: it must not find half of it.
  await recountStaged(shards, owner);
  const start = await shards.startedAt();
  for (const shard of shards.shards) await noteVersions(shard, erasure, artifacts);
  await copyVersions(shards, erasure.id);
  await settleErased(shards, erasure, { owner, start });
  await forgetNumbers(shards, erasure, owner);
  // A power cut must not take what was noted of rows, and leave them deleted.
  await syncSince(shards, start);
  passFaultPoint("erasure-noted");
  for (const shard of shards.shards) if (await isUnfinished(shard, erasure)) return "unfinished";
  // Not while a recount runs: it would count some of these rows, and miss those that are gone.
  const rows = { table: "events", where: isErased(shards), params: { erasure: erasure.id } };
  await owner.whileInserting(async () => {
    for (const { tables } of shards.shards) await deleteRows(tables, rows);
  });
  return "deleting";
}

async function isUnfinished(shard: Shard, { id }: ErasedClient): Promise<boolean> {
  const server = await shard.withAnswered(["events", "event_ids", "erased_versions"]);
  const query = await readQuery("erasures/unfinished-versions");
  return hasRow(server, { query, params: { erasure: id } });
}

/** Whether a table disagrees with `events` about a version or a day of an erasure. An insert at the same time may look like it. */
export async function differsFromEvents(
  { shards }: Shards,
  { id }: ErasedClient,
  from: string | undefined,
): Promise<boolean> {
  for (const shard of shards) if (await differs(shard, versionsOf(id), from)) return true;
  return false;
}

/** Makes every table agree with `events` about the versions and the days of an erasure. */
export async function recountErased(
  { shards }: Shards,
  { id }: ErasedClient,
  owner: Pick<OwnerSettlement, "whileRecounting">,
): Promise<void> {
  for (const shard of shards) await recount(shard, versionsOf(id), owner);
}

function versionsOf(erasure: string): SelectedVersions {
  const select =
    "SELECT artifact, date, event_id, version, import_id FROM erased_versions WHERE erasure = {erasure:UUID}";
  return { select, params: { erasure } };
}

/** Of what is still in events: a later round finds it once more. On several servers no address has a number. */
async function forgetNumbers(shards: Shards, { id }: ErasedClient, owner: OwnerSettlement): Promise<void> {
  const addresses = `SELECT reinterpretAsUInt64(endpoint_id) FROM events WHERE ${isErased(shards)}`;
  await owner.whileNumbering(async () => {
    for (const { tables } of shards.shards)
      await forgetAddresses(tables, { addresses, params: { erasure: id } });
  });
}

/** Whether a server still has events of a client: each deletes in its own time. Rejects while one of them is down. */
export async function isOnAnyServer(
  { shards }: Shards,
  erasure: ErasedClient,
  artifacts: readonly string[],
): Promise<boolean> {
  if (artifacts.length === 0) return false;
  for (const { servers } of shards)
    for (const server of servers) if (await hasRows(server, erasure, artifacts)) return true;
  return false;
}

/** The receipt stamp below which all live events are that any server has of a client. Rejects while one of them is down. */
export async function liveStampOf(
  shards: Shards,
  erasure: ErasedClient,
  artifacts: readonly string[],
): Promise<number> {
  if (artifacts.length === 0) return 0;
  const stamps: number[] = [];
  for (const { servers } of shards.shards)
    for (const server of servers) stamps.push((await readRows(server, erasure, artifacts)).liveStamp);
  await shards.requireEvery();
  return Math.max(...stamps);
}

export async function countErased({ all }: Shards, erasure: string): Promise<number> {
  const answer = await all.query({
    query:
      "SELECT uniqExact(artifact, event_id, version, import_id) AS rows FROM erased_versions WHERE erasure = {erasure:UUID}",
    query_params: { erasure },
    format: "JSONEachRow",
  });
  return Number((await answer.json<{ rows: string }>())[0]?.rows ?? 0);
}

/** A replica deletes in no database of its own. The first two conditions leave out most of the table. */
function isErased(shards: Shards): string {
  const noted = `FROM ${shards.own("erased_versions")} WHERE erasure = {erasure:UUID}`;
  return `artifact IN (SELECT artifact ${noted}) AND date IN (SELECT date ${noted})
    AND (artifact, event_id, version, import_id) IN (SELECT artifact, event_id, version, import_id ${noted})`;
}

async function hasRows(
  clickhouse: ClickHouse,
  erasure: ErasedClient,
  artifacts: readonly string[],
): Promise<boolean> {
  return (await readRows(clickhouse, erasure, artifacts)).rows > 0;
}

async function readRows(
  clickhouse: ClickHouse,
  erasure: ErasedClient,
  artifacts: readonly string[],
): Promise<{ rows: number; liveStamp: number }> {
  const query = `${given(artifacts)}\n${await clientQuery("erasures/client-rows", erasure)}`;
  const answer = await clickhouse.query({
    query,
    query_params: { ...paramsOf(erasure), linesInChunk: LINES_IN_CHUNK },
    format: "JSONEachRow",
    clickhouse_settings: LONG_QUERY,
  });
  const [found] = await answer.json<Record<"rows" | "liveStamp", string>>();
  return { rows: Number(found?.rows ?? 0), liveStamp: Number(found?.liveStamp ?? 0) };
}

const LONG_QUERY = { max_query_size: "67108864" } as const;

async function noteVersions(
  shard: Shard,
  erasure: ErasedClient,
  artifacts: readonly string[],
): Promise<void> {
  const select = await clientQuery("erasures/find-client-versions", erasure);
  const server = await shard.withAnswered(["events", "erased_versions"]);
  await server.command({
    query: `INSERT INTO erased_versions (${COLUMNS})\n${given(artifacts)}\n${select}`,
    query_params: { ...paramsOf(erasure), versionsMax: VERSIONS_MAX },
    clickhouse_settings: { async_insert: 0, wait_end_of_query: 1, ...LONG_QUERY },
  });
}

/** An event's versions may lie on several shards, and settlement reads the erased ones on each. */
async function copyVersions(all: Shards, erasure: string): Promise<void> {
  await all.catchUp(["erased_versions"]);
  if (all.shards.length === 1) return;
  for (const { tables } of all.shards)
    await tables.command({
      query: `INSERT INTO erased_versions (${COLUMNS})
        SELECT DISTINCT ${COLUMNS} FROM ${all.whole("erased_versions")} WHERE erasure = {erasure:UUID}`,
      query_params: { erasure },
      clickhouse_settings: { async_insert: 0, wait_end_of_query: 1 },
    });
  await all.catchUp(["erased_versions"]);
}

const COLUMNS = "erasure, artifact, event_id, version, import_id, date";

async function settleErased(
  shards: Shards,
  { id: erasure }: ErasedClient,
  applied: { owner: OwnerSettlement; start: Starts },
): Promise<void> {
  const batch = uuidv7();
  await shards.all.command({
    query: await fewDeltas(shards, "erasures/touched-events"),
    query_params: { batch, erasure },
    clickhouse_settings: { async_insert: 0, wait_end_of_query: 1 },
  });
  await applyFound(shards, batch, applied);
}

async function clientQuery(
  path: "erasures/client-rows" | "erasures/find-client-versions",
  { kind }: ErasedClient,
): Promise<string> {
  return (await readQuery(path))
    .replaceAll(/^--.*\n/gm, "")
    .replaceAll("{column}", sqlName(kind))
    .replaceAll("{before}", BEFORE);
}

/** Receipt stamps of an owner's imports ascend from one to the next. Those of live events do not, from one collector to another. */
const BEFORE = `(version < {version:UInt64} OR has({imports:Array(UUID)}, import_id)
    OR import_id = {live:UUID} AND version < {liveVersion:UInt64})`;

/** They may be longer than a parameter can be. */
function given(artifacts: readonly string[]): string {
  return `WITH ${uuidsLiteral(artifacts)} AS artifacts`;
}

function paramsOf({ id, clientId, stamp, imports, liveStamp }: ErasedClient) {
  const [version, liveVersion] = [leastVersion(stamp), leastVersion(liveStamp ?? stamp)];
  return { erasure: id, clientId, imports, version, liveVersion, live: NIL_UUID };
}

/**
 * A merge deletes the rows of addresses that add up to nothing; nothing else is sure not to delete a row that
 * is being added. Answers whether there were any. Takes some seconds for ten million rows.
 */
export async function mergeAddresses({ shards }: Shards, erasure: string): Promise<boolean> {
  let found = false;
  // A version and the row that removes it lie on one shard.
  for (const { servers } of shards)
    for (const server of servers) if (await mergeOn(server, erasure)) found = true;
  return found;
}

async function mergeOn(clickhouse: ClickHouse, erasure: string): Promise<boolean> {
  const query = await readQuery("erasures/empty-addresses");
  if (!(await hasRow(clickhouse, { query, params: { erasure } }))) return false;
  for (const table of ["uniques", "totals"])
    await clickhouse.command({
      query: `OPTIMIZE TABLE ${table} FINAL`,
      clickhouse_settings: { alter_sync: "0" },
    });
  return true;
}
