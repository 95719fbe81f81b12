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
  const awayMs = fault.delayMs;
  switch (fault.action) {
    case "kill replica":
      return during([server], awayMs, { control, from: "kill", to: "start" });
    case "freeze replica":
      return during([server], awayMs, { control, from: "stop", to: "cont" });
    case "kill keeper":
      return during(["keeper"], awayMs, { control, from: "kill", to: "start" });
    case "kill shard":
      return during(shard, awayMs, { control, from: "kill", to: "start" });
    case "lose replica":
      await control("kill", server);
      await control("wipe", server);
      await control("start", server);
      await remake(server);
      return true;
  }
}

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

interface Outage {
  control: ServerControl;
  from: "kill" | "stop";
  to: "start" | "cont";
}

async function during(
  names: readonly string[],
  awayMs: number,
  { control, from, to }: Outage,
): Promise<boolean> {
  await Promise.all(names.map((name) => control(from, name)));
  await pause(awayMs);
  await Promise.all(names.map((name) => control(to, name)));
  return true;
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
