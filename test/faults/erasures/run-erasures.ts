import type { ErasureRecord } from "../../../schemas/contracts/erasure.js";
import { pause } from "../../../schemas/async/pause.js";
import { breakView } from "../../support/stores/open-clickhouse.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { whenAtRest, type Verdict } from "../imports/check-imports.js";
import type { SeedReport } from "../imports/run-seed.js";
import { sendImport } from "../imports/send-import.js";
import { NO_LONGER_BROKEN_MS, VIEWS } from "../plans/fault-catalog.js";
import type { FaultWorld } from "../worlds/fault-world.js";
import { untilAnswered } from "../worlds/until-answered.js";
import { checkErasures, type AskedErasure, type SentLines } from "./check-erasures.js";
import { CLIENTS, planErasures, type ErasurePlan, type PlannedLines } from "./plan-erasures.js";

const DONE_MS_MAX = 300_000;

/** Erases clients while their events are imported and what is planned dies, and compares the result with the model. */
export async function runErasureSeed(world: FaultWorld, seed: number): Promise<SeedReport> {
  const startedAt = performance.now();
  const plan = planErasures(seed);
  const { api, organization } = world;
  const named = { organization, name: `erasures-${seed}`, libraryType: "other" } as const;
  const artifact = await makePackage(api, named);
  const verdict: Verdict = { lost: 0, doubled: 0, mismatched: 0, miscounted: 0, stuck: 0, details: [] };
  const [first, ...rest] = plan.imports as [PlannedLines, ...PlannedLines[]];
  const sent = [await sendLines(world, artifact, first)];
  await whenAtRest(world, [artifact], verdict);
  const endpoints = await endpointsOf(world, artifact);
  await world.arm(plan.faults);
  const [later, erasures, failed] = await Promise.all([
    Promise.all(rest.map((one) => sendLines(world, artifact, one))),
    Promise.all(plan.erasures.map((one) => askErasure(world, one, endpoints[one.client] ?? ""))),
    breakPlanned(world, plan),
  ]);
  sent.push(...later);
  await whenErased(world, erasures, verdict);
  await whenAtRest(world, [artifact], verdict);
  await world.disarm();
  await whenAtRest(world, [artifact], verdict);
  await checkErasures(world, { artifact, sent, erasures }, verdict);
  await world.api.request(`/v1/packages/${artifact.id}`, { method: "DELETE" });
  const carriedOut = await world.carriedOut();
  return {
    seed,
    ...verdict,
    faults: plan.faults.filter(({ action }, index) =>
      action === "break view" ? failed : carriedOut.has(index),
    ),
    events: sent.reduce((sum, { lines }) => sum + lines.length, 0),
    refused: 0,
    durationMs: performance.now() - startedAt,
  };
}

const addressOf = (client: number) => `81.2.69.${140 + client}`;

async function sendLines(
  world: FaultWorld,
  artifact: KnownArtifact,
  { key, afterMs, lines }: PlannedLines,
): Promise<SentLines> {
  await pause(afterMs);
  const good = lines.map(({ client, day, id }, index) =>
    JSON.stringify({
      $time: `2025-03-${day}T12:00:00Z`,
      $user_agent: `client-${client}/1.${index % 3}`,
      $remote_address: addressOf(client),
      ...(id !== undefined && { $unique_id: `e${id}` }),
      ...{ import: key, line: index },
    }),
  );
  const planned = { key, package: 0, lines: good.length, refused: 0, startAt: 0 };
  const askedAt = performance.now();
  const sent = { planned: { ...planned, gzip: false, ending: "keep" as const }, good, refused: [] };
  const { answeredId = "" } = await sendImport(world, { ...sent, packageId: artifact.id });
  return { id: answeredId, lines: good, askedAt, answeredAt: performance.now() };
}

/** The `endpoint_id` of each client. */
async function endpointsOf({ clickhouse }: FaultWorld, { id }: KnownArtifact): Promise<string[]> {
  const rows = await clickhouse.rows<{ agent: string; endpoint: string }>(
    `SELECT user_agent AS agent, lower(hex(any(endpoint_id))) AS endpoint FROM events WHERE artifact = '${id}' GROUP BY agent`,
  );
  return Array.from(
    { length: CLIENTS },
    (_, client) => rows.find(({ agent }) => agent.startsWith(`client-${client}/`))?.endpoint ?? "",
  );
}

async function askErasure(
  world: FaultWorld,
  { client, afterMs }: ErasurePlan["erasures"][number],
  endpoint: string,
): Promise<AskedErasure> {
  await pause(afterMs);
  let askedAt = 0;
  const ask = () => {
    askedAt = performance.now();
    return world.api.post<ErasureRecord>(`/v2/${world.organization}/erasures`, { endpoint_id: endpoint });
  };
  const patience = { patienceMs: DONE_MS_MAX, meanwhile: () => world.whenRunning() };
  const { id } = await untilAnswered(ask, patience);
  return { id, endpoint, address: addressOf(client), askedAt, answeredAt: performance.now() };
}

/** The eraser waits longer after each round, which is of no use here. */
export const LOOK_AT_ONCE = "update erasures set due_at = now() where finished_at is null and due_at > now()";

async function whenErased(
  world: FaultWorld,
  erasures: readonly AskedErasure[],
  verdict: Verdict,
): Promise<void> {
  for (const { id } of erasures) {
    const path = `/v2/${world.organization}/erasures/${id}`;
    let record: ErasureRecord | undefined;
    const requireDone = async () => {
      await world.withPostgres((pg) => pg.query(LOOK_AT_ONCE)).catch(() => undefined);
      record = await world.api.get<ErasureRecord>(path);
      if (record.status !== "done") throw new Error(`${path} is not done`);
    };
    const patience = { patienceMs: DONE_MS_MAX, meanwhile: () => world.whenRunning() };
    await untilAnswered(requireDone, patience).catch(() => {
      verdict.stuck += 1;
      verdict.details.push(`an erasure never ended: ${JSON.stringify(record)}`);
    });
  }
}

/**
 * For a while every insert fails between the raw rows and one view, and half the time everything is killed then.
 * @returns whether it was planned
 */
async function breakPlanned(world: FaultWorld, { seed, faults }: ErasurePlan): Promise<boolean> {
  const planned = faults.find(({ action }) => action === "break view");
  if (planned === undefined) return false;
  const restore = await breakView(world.shards.flat(), VIEWS[seed % VIEWS.length] ?? "");
  await pause(NO_LONGER_BROKEN_MS);
  if (planned.hit === 1) for (const program of world.programs) void program.kill("SIGKILL");
  await restore();
  return true;
}
