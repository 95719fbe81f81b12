import { expect, test } from "vitest";
import { CLUSTER_FAULTS, SERVER_ACTIONS, type ServerAction } from "../../faults/plans/fault-catalog.js";
import { isOfServers, planSeed, type PlannedFault } from "../../faults/plans/plan-seed.js";
import { chosen, harmServers } from "../../faults/worlds/server-faults.js";

const SHARDS = [
  ["a1", "a2"],
  ["b1", "b2"],
];
const plans = Array.from({ length: 30 }, (_, index) => planSeed(index + 1, CLUSTER_FAULTS));

test("each of thirty seeds harms a server and kills a program, and together they do every harm to every server", () => {
  const harms = plans.map(({ faults }) => faults.filter(isOfServers));
  expect(harms.map(({ length }) => length)).toEqual(plans.map(() => 1));
  expect(plans.every(({ faults }) => faults.some(({ action }) => action === "kill program"))).toBe(true);
  const kinds = new Set(
    harms.flat().map(({ action, point, delayMsMax }) => `${action} ${point} ${delayMsMax}`),
  );
  expect(kinds.size).toBe(CLUSTER_FAULTS.turns[0]?.length);
  expect(new Set(harms.flat().map((fault) => chosen(fault, SHARDS).server))).toEqual(new Set(SHARDS.flat()));
});

test.each<[ServerAction, string[]]>([
  ["kill replica", ["kill b1", "start b1"]],
  ["freeze replica", ["stop b1", "cont b1"]],
  ["kill keeper", ["kill keeper", "start keeper"]],
  ["kill shard", ["kill b1", "kill b2", "start b1", "start b2"]],
  ["cut replica", ["cut b1", "start b1"]],
  ["cut shard", ["cut b1", "cut b2", "start b1", "start b2"]],
  ["lose replica", ["kill b1", "wipe b1", "start b1", "remake b1"]],
])("%s: what is harmed is back at the end", async (action, expected) => {
  const done: string[] = [];
  const fault: PlannedFault = {
    action,
    point: "before-insert",
    delayMsMax: 0,
    hit: 1,
    delayMs: 0,
    server: 6,
  };
  const struck = await harmServers(fault, {
    shards: SHARDS,
    control: async (verb, server) => void done.push(`${verb} ${server}`),
    remake: async (server) => void done.push(`remake ${server}`),
  });
  expect({ struck, done }).toEqual({ struck: true, done: expected });
  expect(SERVER_ACTIONS).toContain(action);
});
