import { countLive } from "../../support/stores/open-clickhouse.js";
import { firstDifference } from "../../support/imports/recount-aggregates.js";
import { linesByReceipt } from "../../support/imports/recount.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import {
  checkImports,
  whenAtRest,
  type StoredImport,
  type SeedOutcome,
  type Verdict,
} from "./check-imports.js";
import type { FaultWorld, PersistentClickHouse } from "../worlds/fault-world.js";

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

/** Counts the shards whose servers do not all have the same rows of a package. */
async function countDifferingReplicas(shards: FaultWorld["shards"], packageId: string): Promise<number> {
  let differing = 0;
  for (const servers of shards) {
    const digests = new Set<string>();
    for (const server of servers) {
      const [row] = await server.rows<{ digest: string }>(`
        SELECT sum(cityHash64(event_id, version, import_id, sign)) AS digest FROM events
        WHERE artifact = '${packageId}'`);
      digests.add(row?.digest ?? "");
    }
    if (digests.size > 1) differing += 1;
  }
  return differing;
}

/**
 * Counts the rows in which a view's table differs from the view's own question asked anew of the raw rows of a
 * package, over all views that add up.
 */
export async function countDifferingRows(
  { rows }: Pick<PersistentClickHouse, "rows">,
  packageId: string,
): Promise<{ view: string; rows: number }[]> {
  const views = await rows<{ name: string; select: string; columns: string[] }>(`
    SELECT views.name AS name, views.as_select AS select, columns.names AS columns
    FROM system.tables AS views
    JOIN
    (
      SELECT table, groupArray(name) AS names FROM system.columns
      -- Those with a default are not the view's.
      WHERE database = currentDatabase() AND default_kind = '' GROUP BY table
    ) AS columns ON columns.table = replaceOne(views.name, '_view', '')
    WHERE views.database = currentDatabase() AND views.engine = 'MaterializedView'
      AND hasAny(columns.names, ['total', 'live'])`);
  const differing = [];
  for (const { name, select, columns } of views) {
    const scope = columns.includes("package") ? "package" : "artifact";
    const sums = columns.filter((column) => SUMS.includes(column));
    const keys = columns.filter((column) => !SUMS.includes(column)).join(", ");
    const counted = sums.map((sum) => `sum(${sum}) AS added_${sum}`).join(", ");
    const added = (from: string) =>
      `SELECT ${keys}, ${counted} FROM ${from} WHERE ${scope} = '${packageId}' GROUP BY ${keys}
      HAVING ${sums.map((sum) => `added_${sum} != 0`).join(" OR ")}`;
    const stored = added(name.replace("_view", ""));
    const recounted = added(`(${select})`);
    const [found] = await rows<{ differing: string }>(`
      SELECT count() AS differing FROM (
        (${stored} EXCEPT ALL ${recounted}) UNION ALL (${recounted} EXCEPT ALL ${stored}))`);
    if (Number(found?.differing) > 0) differing.push({ view: name, rows: Number(found?.differing) });
  }
  return differing;
}

/** Columns that add up. All others tell rows apart. */
const SUMS = ["total", "automated_total", "fingerprint", "live"];
