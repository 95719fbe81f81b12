import { countLive } from "../../support/stores/count-live.js";
import { firstDifference } from "../../support/imports/first-difference.js";
import { linesByReceipt } from "../../support/imports/lines-by-receipt.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { checkImports, whenAtRest, type StoredImport } from "./check-imports.js";
import { countDifferingReplicas } from "./check-replicas.js";
import { countDifferingRows } from "./check-views.js";
import type { FaultWorld } from "../worlds/fault-world.js";
import type { SeedOutcome, Verdict } from "./verdict.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };

/** Waits until everything of the seed has come to rest, then compares it with what was sent and acknowledged. */
export async function checkSeed(
  world: FaultWorld,
  { packages, sent }: SeedOutcome,
  verdict: Verdict,
): Promise<void> {
  await whenAtRest(world, packages, verdict);
  await world.disarm();
  // A frozen process has gone on since, and may have had something to write.
  const imports = await whenAtRest(world, packages, verdict);
  await checkImports(world, { sent, imports }, verdict);
  for (const artifact of packages) {
    const ofPackage = { artifact, sent, imports: imports.filter((each) => each.packageId === artifact.id) };
    await checkPackage(world, ofPackage, verdict);
  }
}

interface CheckedPackage {
  artifact: KnownArtifact;
  sent: SeedOutcome["sent"];
  imports: readonly StoredImport[];
}

async function checkPackage(
  world: FaultWorld,
  { artifact, sent, imports }: CheckedPackage,
  verdict: Verdict,
): Promise<void> {
  const kept = imports
    .filter(({ status, retracted }) => status === "done" && !retracted)
    .map(({ id, key }) => ({ importId: id, lines: sent.find((one) => one.planned.key === key)?.good ?? [] }));
  const lines = await world.withPostgres((pg) => linesByReceipt(pg, kept));
  const body = { bytes: Buffer.from(lines.join("\n")), target: artifact.id };
  const model = world.recountBodies([body], [artifact]);

  const answered = await readAggregates(world, artifact.id);
  const difference = firstDifference(answered, model.aggregates);
  if (difference !== "") {
    verdict.mismatched += 1;
    verdict.details.push(`the aggregates of ${artifact.id} differ from the model: ${difference}`);
  }
  const live = await countLive(world.clickhouse, artifact.id);
  verdict.lost += Math.max(0, model.live.length - live.events);
  verdict.doubled += Math.max(0, live.events - model.live.length) + live.notOnce;
  const views = [];
  for (const server of world.shards.flat()) views.push(...(await countDifferingRows(server, artifact.id)));
  const replicas = await countDifferingReplicas(world.shards, artifact.id);
  verdict.mismatched += views.length + replicas;
  if (views.length > 0 || replicas > 0 || live.notOnce > 0 || live.events !== model.live.length)
    verdict.details.push(
      `${artifact.id}: ${JSON.stringify({ expected: model.live.length, ...live, views, replicas })}`,
    );
}

async function readAggregates({ api, organization }: FaultWorld, packageId: string) {
  const lines = await api.readAggregates(organization, RANGE);
  return lines.filter((line) => line.package === packageId);
}
