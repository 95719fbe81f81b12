import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from "@clickhouse/client";
import type { ClickHouse, Shard } from "../../../../schemas/shards.js";
import type { ClusterServers } from "../clickhouse-source.js";
import { connectClickHouse } from "../connect-clickhouse.js";
import { againstPowerCuts } from "./against-power-cuts.js";
import { ClusterServer, type Connected, ServerDown, failOver, onFirstUp } from "./cluster-server.js";
import { finishInserts } from "./finish-inserts.js";
import { isPrepared } from "./is-prepared.js";

export interface ConnectedShard extends Shard, AsyncDisposable {
  readonly whole: readonly Connected<ClickHouse>[];
  state(): Promise<ShardState>;
  /** As `Shards.catchUp`, for the reads of these servers. */
  catchUp(tables?: readonly string[]): Promise<void>;
}

/** A server that takes longer cannot be written to soon. */
const STATE_MS_MAX = 2_000;
/** A part whose only server is gone cannot be fetched. */
const SYNC_SECONDS_MAX = 20;
const TIMEOUT_EXCEEDED = "159";

export function connectShard(
  shard: ClusterServers["shards"][number],
  cluster: Pick<ClusterServers, "shards" | "wholeDatabase">,
): ConnectedShard {
  const { name, urls, quorum } = shard;
  const settings = clusterSettings(shard, cluster);
  const servers = urls.map((url) => new ClusterServer(url, () => isPrepared(url, cluster)));
  const open: ClickHouseClient[] = [];
  const connect = (database?: string): Connected<ClickHouse>[] =>
    servers.map((server) => {
      const client = connectClickHouse(server.url, { settings, ...(database !== undefined && { database }) });
      open.push(client);
      return { server, client };
    });
  const own = connect();
  const what = `shard ${name}`;
  const tables = finishInserts(
    failOver(() => own, what),
    () => spread(own, { quorum, what }),
  );
  const lone = own.map((connected) => failOver(() => [connected], `${what} with this name`));
  const replicates = async () => urls.length > 1 || (await replicatedTables(own, what)).length > 0;
  const withStored = async (names: readonly string[]) =>
    urls.length === 1 ? tables : onFirstUp(own, { what }, (connected) => synced(connected, names));
  return {
    name,
    tables,
    servers: lone,
    whole: connect(cluster.wholeDatabase),
    withStored,
    withAnswered: async (names) => (quorum === urls.length ? tables : withStored(names)),
    ...againstPowerCuts(tables, replicates),
    async catchUp(names) {
      if (quorum === urls.length) return;
      const wanted = names ?? (await replicatedTables(own, what));
      await Promise.all(own.map((connected) => syncIfUp(connected, wanted)));
    },
    async state() {
      const free = (await Promise.all(own.map(freeBytesOf))).filter((bytes) => bytes !== undefined);
      return { servers: free.length, quorum, freeBytes: free.length === 0 ? 0 : Math.min(...free) };
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(open.map((client) => client.close()))),
  };
}

/** Resolves once as many servers as the quorum have all that the shard has. */
async function spread(
  servers: readonly Connected<ClickHouse>[],
  { quorum, what }: { quorum: number; what: string },
): Promise<void> {
  const tables = await replicatedTables(servers, what);
  const ends = await Promise.allSettled(servers.map((connected) => synced(connected, tables)));
  const failure = ends.find((end) => end.status === "rejected");
  const whole = ends.filter((end) => end.status === "fulfilled").length;
  if (whole < quorum) throw new Error(`too few servers of ${what} have its rows`, { cause: failure?.reason });
}

async function replicatedTables(servers: readonly Connected<ClickHouse>[], what: string): Promise<string[]> {
  const query = "SELECT table FROM system.replicas WHERE database = currentDatabase()";
  const answer = await failOver(() => servers, what).query({ query, format: "JSONEachRow" });
  return (await answer.json<{ table: string }>()).map(({ table }) => table);
}

async function synced(connected: Connected<ClickHouse>, tables: readonly string[]): Promise<ClickHouse> {
  const { server, client } = connected;
  for (const table of tables)
    try {
      await server.run((signal) =>
        client.command({
          query: "SYSTEM SYNC REPLICA {table:Identifier} LIGHTWEIGHT",
          query_params: { table },
          clickhouse_settings: { receive_timeout: SYNC_SECONDS_MAX },
          abort_signal: signal,
        }),
      );
    } catch (error) {
      if (!(error instanceof ClickHouseError) || error.code !== TIMEOUT_EXCEEDED) throw error;
      server.noteDown();
      throw new ServerDown(`the ClickHouse server ${server.name} is still fetching ${table}`, error);
    }
  return failOver(() => [connected], `${server.name}`);
}

/** A server that is down is not read either. */
async function syncIfUp(connected: Connected<ClickHouse>, tables: readonly string[]): Promise<void> {
  if (!(await connected.server.isUp())) return;
  await synced(connected, tables);
}

/** Undefined for a server that takes no inserts now. */
async function freeBytesOf({ server, client }: Connected<ClickHouse>): Promise<number | undefined> {
  if (!(await server.isUp())) return undefined;
  try {
    const answer = await server.run(
      (signal) => client.query({ query: STATE, format: "JSONEachRow", abort_signal: signal }),
      AbortSignal.timeout(STATE_MS_MAX),
    );
    const [row] = await answer.json<{ free: string; read_only: string }>();
    return row === undefined || Number(row.read_only) > 0 ? undefined : Number(row.free);
  } catch {
    return undefined;
  }
}

const STATE = `
  SELECT sum(free_space) AS free, (SELECT countIf(is_readonly) FROM system.replicas WHERE database = currentDatabase()) AS read_only
  FROM system.disks`;

interface ShardState {
  /** Servers that answer and are not read-only. */
  servers: number;
  /** Servers that must have a row. */
  quorum: number;
  /** The room on the fullest of the servers. */
  freeBytes: number;
}

/**
 * Each shard that has its quorum of servers as often as it has room. Where none has, those that lack fewest
 * servers. `random` is from 0 to below 1.
 */
export function weighShards<Weighed extends ShardState>(
  shards: readonly Weighed[],
  random: number,
): Weighed | undefined {
  const lacking = ({ servers, quorum }: ShardState) => Math.max(0, quorum - servers);
  const least = Math.min(...shards.map(lacking));
  const able = shards.filter((shard) => lacking(shard) === least);
  const weightOf = ({ freeBytes }: ShardState) => Math.max(1, freeBytes);
  let left = random * able.reduce((sum, shard) => sum + weightOf(shard), 0);
  return able.find((shard) => (left -= weightOf(shard)) < 0) ?? able.at(-1);
}

/** Shorter than the time after which a client gives up. Until a dead server's session is over, an insert waits this long. */
const QUORUM_MS_MAX = 60_000;
/**
 * For a quorum below all servers: a server may lack rows whose insert was answered until it lacks nothing
 * older.
 */
const DELAY_SECONDS_MAX = 2;
/**
 * For a quorum of all servers: only a remade server may lack a row whose insert was answered, and that row is
 * older, because Keeper gives the old server up after 30 s.
 */
const REMADE_DELAY_SECONDS_MAX = 20;

/**
 * Each of the first group, at another value, gives smaller numbers without an error. Lists of ids are sent to
 * all shards: a row and the row that removes it lie on one, an event and its override may not.
 */
export function clusterSettings(
  { quorum }: ClusterServers["shards"][number],
  { shards }: Pick<ClusterServers, "shards">,
): ClickHouseSettings {
  const mayLack = shards.some((shard) => shard.quorum < shard.urls.length);
  return {
    skip_unavailable_shards: 0,
    optimize_skip_unused_shards: 0,
    distributed_group_by_no_merge: "0",
    distributed_product_mode: "global",
    load_balancing: "first_or_random",
    fallback_to_stale_replicas_for_distributed_queries: 0,
    insert_quorum: quorum > 1 ? String(quorum) : "0",
    insert_quorum_parallel: 1,
    insert_quorum_timeout: QUORUM_MS_MAX,
    // Also of one server that reads several shards: the limit is for the servers of each.
    max_replica_delay_for_distributed_queries: String(mayLack ? DELAY_SECONDS_MAX : REMADE_DELAY_SECONDS_MAX),
  };
}
