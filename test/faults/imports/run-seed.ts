import { pause } from "../../../schemas/async/pause.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { breakView } from "../../support/stores/open-clickhouse.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { whenAtRest, type SeedOutcome, type Verdict } from "./check-imports.js";
import { isBeside, VIEWS } from "../plans/fault-catalog.js";
import { openBeside } from "./beside.js";
import { checkSeed } from "./check-seed.js";
import { composeBody, sendImport } from "./send-import.js";
import type { FaultWorld } from "../worlds/fault-world.js";
import { untilAnswered } from "../worlds/until-answered.js";
import {
  PACKAGES,
  planSeed,
  type PlannedFault,
  type PlannedImport,
  type SeedPlan,
} from "../plans/plan-seed.js";

export interface SeedReport extends Verdict {
  seed: number;
  /** Faults that were carried out: a point may not be passed as often as the plan waits for. */
  faults: PlannedFault[];
  events: number;
  /** Starts of imports that were answered 503. */
  refused: number;
  durationMs: number;
}

export function runSeed(world: FaultWorld, seed: number): Promise<SeedReport> {
  return runPlan(world, planSeed(seed, world.faults));
}

/** Imports what is planned from all senders at once, lets die what is planned, and checks the result. */
export async function runPlan(world: FaultWorld, plan: SeedPlan): Promise<SeedReport> {
  const startedAt = performance.now();
  const { seed } = plan;
  const packages = await makePackages(world, seed);
  const beside = plan.faults.some(isBeside) ? await openBeside(world, seed) : undefined;
  await world.arm(plan.faults);
  const broken = plan.faults.some(({ action }) => action === "break view");
  const breaking = broken ? failView(world, seed) : Promise.resolve(false);
  const sending = Promise.all(plan.senders.map((imports) => sendAll(world, { imports, seed, packages })));
  const [sent, failed] = await Promise.all([sending, breaking, beside?.run()]);
  const armed = plan.faults.filter(({ action }) => action !== "break view").length;
  const verdict: Verdict = { lost: 0, doubled: 0, mismatched: 0, miscounted: 0, stuck: 0, details: [] };
  for (const one of plan.more) {
    // Imports that are settled together pass the points of settlement once.
    await whenAtRest(world, packages, verdict);
    if ((await world.carriedOut()).size === armed) break;
    sent.push(await sendAll(world, { imports: [one], seed, packages }));
  }
  const outcome: SeedOutcome = { packages, sent: sent.flat() };
  await checkSeed(world, outcome, verdict);
  await beside?.check(verdict);
  const carriedOut = await world.carriedOut();
  return {
    seed,
    ...verdict,
    faults: plan.faults.filter(({ action }, index) =>
      action === "break view" ? failed : carriedOut.has(index),
    ),
    events: outcome.sent.reduce((sum, { good, refused }) => sum + good.length + refused.length, 0),
    refused: outcome.sent.reduce((sum, { refusals }) => sum + refusals, 0),
    durationMs: performance.now() - startedAt,
  };
}

/** Before anything is armed: what is tested is importing. */
function makePackages({ api, organization }: FaultWorld, seed: number): Promise<KnownArtifact[]> {
  const names = Array.from({ length: PACKAGES }, (_, index) => `seed-${seed}-${index}`);
  return Promise.all(names.map((name) => makePackage(api, { organization, name, libraryType: "docker" })));
}

interface Sender {
  imports: readonly PlannedImport[];
  seed: number;
  packages: readonly KnownArtifact[];
}

async function sendAll(world: FaultWorld, { imports, seed, packages }: Sender): Promise<SeedOutcome["sent"]> {
  const sent = [];
  for (const planned of imports) {
    const packageId = packages[planned.package]?.id ?? "";
    const one = { planned, packageId, ...composeBody(planned, { seed, packageId }) };
    const answer = await sendImport(world, one);
    const { answeredId } = answer;
    if (answeredId !== undefined && planned.ending !== "break off" && planned.ending !== "keep")
      await takeBack(world, { id: answeredId, ending: planned.ending });
    sent.push({ ...one, ...answer });
  }
  return sent;
}

/** A broker may be unavailable for a minute, and an insert waits as long for a replica that does not come back. */
const ASKING_MS_MAX = 300_000;

/** Asks until it is so: an abort that comes too late becomes a retraction. */
async function takeBack(
  world: FaultWorld,
  { id, ending }: { id: string; ending: "retract" | "abort" },
): Promise<void> {
  const path = `/v2/imports/${world.organization}/${id}`;
  const ask = async () => {
    if (ending === "abort") {
      const aborted = await world.api.request(`${path}/abort?retract=true`, { method: "POST" });
      if (aborted.status !== 409) return aborted.status;
    }
    const { status } = await world.api.get<EventImport>(path);
    return status === "importing" ? status : (await world.api.request(path, { method: "DELETE" })).status;
  };
  const takeOnce = async () => {
    const said = await ask();
    if (said !== 202 && said !== 204) throw new Error(`import ${id} could not be retracted: ${said}`);
  };
  await untilAnswered(takeOnce, { patienceMs: ASKING_MS_MAX, meanwhile: () => world.whenRunning() });
}

const BROKEN_MS_MAX = 15_000;

/**
 * A view refuses inserts until one was seen to fail between the raw rows and it; then everything is killed.
 * @returns whether one was seen
 */
async function failView({ programs, shards }: FaultWorld, seed: number): Promise<boolean> {
  const restore = await breakView(shards.flat(), VIEWS[seed % VIEWS.length] ?? "totals_view");
  const deadline = Date.now() + BROKEN_MS_MAX;
  const hasFailed = () => programs.some((program) => program.log().includes("writing to ClickHouse failed"));
  while (!hasFailed() && Date.now() < deadline) await pause(20);
  const failed = hasFailed();
  for (const program of programs) void program.kill("SIGKILL");
  await restore();
  return failed;
}
