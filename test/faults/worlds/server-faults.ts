import { pause } from "../../../schemas/async/pause.js";
import type { ServerControl } from "../../support/shards/given-servers.js";
import { isOfServers, type PlannedFault } from "../plans/plan-seed.js";
import { connectClickHouse, databaseOf } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { untilAnswered } from "./until-answered.js";
import type { PersistentClickHouse } from "./fault-world.js";

/** The servers of a cluster, by the names that the control command knows them by. */
interface HarmedServers {
  control: ServerControl;
  /** The names of the servers of each shard. */
  shards: readonly (readonly string[])[];
  /** Makes a server whose disk was lost a replica again, as an operator would. */
  remake: (server: string) => Promise<void>;
}

/**
 * Does the harm of a fault to the servers that it chose, and has them back when it is over. A server that is away is the
 * business of its supervisor, not of the program.
 * @returns whether it struck
 */
export async function harmServers(fault: PlannedFault, servers: HarmedServers): Promise<boolean> {
  if (!isOfServers(fault)) return true;
  const { control, shards, remake } = servers;
  const { shard, server } = chosen(fault, shards);
  if (fault.action !== "lose replica") {
    const { of, from, to } = OUTAGES[fault.action];
    const names = { replica: [server], shard, keeper: ["keeper"] }[of];
    await Promise.all(names.map((name) => control(from, name)));
    await pause(fault.delayMs);
    await Promise.all(names.map((name) => control(to, name)));
    return true;
  }
  for (const verb of ["kill", "wipe", "start"] as const) await control(verb, server);
  await remake(server);
  return true;
}

const OUTAGES = {
  "kill replica": { of: "replica", from: "kill", to: "start" },
  "freeze replica": { of: "replica", from: "stop", to: "cont" },
  "cut replica": { of: "replica", from: "cut", to: "start" },
  "kill shard": { of: "shard", from: "kill", to: "start" },
  "cut shard": { of: "shard", from: "cut", to: "start" },
  "kill keeper": { of: "keeper", from: "kill", to: "start" },
} as const;

/** The same number chooses the same server. */
export function chosen(
  { server: number = 0 }: PlannedFault,
  shards: HarmedServers["shards"],
): { shard: readonly string[]; server: string } {
  const all = shards.flatMap((shard) => shard.map((server) => ({ shard, server })));
  const one = all[number % all.length];
  if (one === undefined) throw new Error("there is no server to harm");
  return one;
}

/** A keeper ends the session of a server that died this late at most. */
const SESSION_MS_MAX = 90_000;
const PATIENCE = { patienceMs: SESSION_MS_MAX, pauseMs: 500 };

/**
 * Makes a server with an empty disk a replica again: another one of its shard forgets what the keeper knows of it, then the
 * program makes its tables, which fetch their rows.
 */
export async function remakeReplica(
  shard: readonly string[],
  lost: number,
  migrate: () => Promise<unknown>,
): Promise<void> {
  const server = shard[lost] ?? "";
  const name = await macroOf(server);
  const other = shard.find((url) => url !== server) ?? "";
  await using client = connectClickHouse(other);
  const query = `SYSTEM DROP REPLICA '${name}' FROM DATABASE \`${databaseOf(other)}\``;
  await untilAnswered(() => client.command({ query }), PATIENCE);
  await untilAnswered(migrate, PATIENCE);
}

async function macroOf(url: string): Promise<string> {
  await using client = connectClickHouse(url, { database: "default" });
  const answer = await client.query({ query: "SELECT getMacro('replica') AS name", format: "JSONEachRow" });
  const [row] = await answer.json<{ name: string }>();
  return row?.name ?? "";
}

/** Waits until the server has all rows that others of its shard have. */
export async function whenReplicasAgree(server: PersistentClickHouse): Promise<void> {
  const tables = await server.rows<{ name: string }>(
    "SELECT table AS name FROM system.replicas WHERE database = currentDatabase()",
  );
  for (const { name } of tables) await server.client.command({ query: `SYSTEM SYNC REPLICA \`${name}\`` });
}
