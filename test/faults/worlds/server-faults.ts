import { pause } from "../../../schemas/async/pause.js";
import type { ServerControl } from "../../support/shards/server-control.js";
import { isOfServers, type PlannedFault } from "../plans/plan-seed.js";

/** The servers of a cluster, by the names that the control command knows them by. */
export interface HarmedServers {
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
