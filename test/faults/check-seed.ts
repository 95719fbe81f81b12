import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { EventImport } from "../../schemas/import-store.js";
import { firstDifference } from "../support/first-difference.js";
import { linesByReceipt } from "../support/lines-by-receipt.js";
import type { KnownArtifact } from "../support/recount-line.js";
import { countDifferingRows } from "./check-views.js";
import type { FaultWorld } from "./fault-world.js";
import type { SentImport } from "./send-import.js";

/** What is wrong after a seed; all zero when every promise was kept. */
export interface Verdict {
  /** Acknowledged lines that are not live. */
  lost: number;
  /** Lines that are live more than once, or that nobody was promised. */
  doubled: number;
  /** Breakdowns that differ from the model or from a recount of the raw rows. */
  mismatched: number;
  /** Imports with wrong counts or a wrong status. */
  miscounted: number;
  /** Imports still unfinished or unsettled. */
  stuck: number;
  details: string[];
}

const RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };
const PATIENCE_MS = 90_000;
const POLL_MS = 150;

export interface SeedOutcome {
  packages: readonly KnownArtifact[];
  sent: readonly (SentImport & { answeredId: string | undefined })[];
}

/** Waits until everything of the seed has come to rest, then compares it with what was sent and acknowledged. */
export async function checkSeed(world: FaultWorld, { packages, sent }: SeedOutcome): Promise<Verdict> {
  const verdict: Verdict = { lost: 0, doubled: 0, mismatched: 0, miscounted: 0, stuck: 0, details: [] };
  const imports = await whenAtRest(world, packages, verdict);
  await world.disarm();
  for (const one of sent) await checkRecord(world, { one, imports, verdict });
  for (const artifact of packages) {
    const ofPackage = { artifact, sent, imports: imports.filter((each) => each.packageId === artifact.id) };
    await checkPackage(world, ofPackage, verdict);
  }
  return verdict;
}

interface StoredImport {
  id: string;
  packageId: string;
  status: EventImport["status"];
  retracted: boolean;
  /** The Idempotency-Key that leads to it. */
  key: string | null;
  settled: boolean;
}

async function whenAtRest(
  world: FaultWorld,
  packages: readonly KnownArtifact[],
  verdict: Verdict,
): Promise<StoredImport[]> {
  const deadline = Date.now() + PATIENCE_MS;
  const ids = packages.map(({ id }) => id);
  for (;;) {
    const imports = await world.withPostgres((pg) => readImports(pg, ids)).catch(() => undefined);
    const restless = imports?.filter(({ status, settled }) => status === "importing" || !settled);
    if (imports !== undefined && restless?.length === 0) return imports;
    if (Date.now() > deadline) {
      verdict.stuck += restless?.length ?? 1;
      verdict.details.push(`at rest never came: ${JSON.stringify(restless)}`);
      return imports ?? [];
    }
    await sleep(POLL_MS);
    await world.whenRunning();
  }
}

async function readImports(pg: Client, packageIds: readonly string[]): Promise<StoredImport[]> {
  const { rows } = await pg.query<StoredImport>(
    `select i.id, i.artifact_id as "packageId", i.status, i.retracted, k.key,
       i.chunks_settled = i.chunks_written
         and not exists (select from settlements s where s.owner_id = i.owner_id) as settled
     from imports i left join import_keys k on k.import_id = i.id
     where i.artifact_id = any($1::uuid[]) order by i.id`,
    [packageIds],
  );
  return rows;
}

interface Checked {
  one: SeedOutcome["sent"][number];
  imports: readonly StoredImport[];
  verdict: Verdict;
}

/** Every acknowledged import is there, as it ended; every other one under its key, if any, is aborted. */
async function checkRecord(world: FaultWorld, { one, imports, verdict }: Checked): Promise<void> {
  const { planned, good, refused, answeredId } = one;
  const stored = imports.find(({ key }) => key === planned.key);
  if (planned.ending === "break off") {
    if (stored === undefined || stored.status === "aborted") return;
    verdict.miscounted += 1;
    verdict.details.push(`${planned.key} broke off and is ${stored.status}`);
    return;
  }
  const record = await world.api.get<EventImport>(`/v2/imports/${world.organization}/${answeredId}`);
  const takenBack = planned.ending !== "keep";
  const counts = [
    record.events_total,
    record.events_successfully_imported,
    record.events_failed_to_import,
  ].join(" ");
  const expected = [good.length + refused.length, good.length, refused.length].join(" ");
  const right =
    stored?.id === answeredId &&
    (takenBack ? stored?.retracted === true : record.status === "done" && !stored?.retracted) &&
    (record.status === "aborted" || counts === expected);
  if (right) return;
  verdict.miscounted += 1;
  verdict.details.push(
    `${planned.key} (${planned.ending}) was answered ${answeredId}, is ${JSON.stringify(stored)} with counts ${counts}, not ${expected}`,
  );
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
  const live = await countLive(world, artifact.id);
  verdict.lost += Math.max(0, model.live.length - live.events);
  verdict.doubled += Math.max(0, live.events - model.live.length) + live.notOnce;
  const views = await countDifferingRows(world.clickhouse, artifact.id);
  verdict.mismatched += views.length;
  if (views.length > 0 || live.notOnce > 0 || live.events !== model.live.length)
    verdict.details.push(
      `${artifact.id}: ${JSON.stringify({ expected: model.live.length, ...live, views })}`,
    );
}

async function readAggregates({ api, organization }: FaultWorld, packageId: string) {
  const lines = await api.readAggregates(organization, RANGE);
  return lines.filter((line) => line.package === packageId);
}

/** Events with a live version, and versions that are live otherwise than once or beside another of their event. */
async function countLive(
  { clickhouse }: FaultWorld,
  packageId: string,
): Promise<{ events: number; notOnce: number }> {
  const [counted] = await clickhouse.rows<{ events: string; notOnce: string }>(`
    SELECT uniqExact(event_id) AS events, countIf(signs != 1) + count() - uniqExact(event_id) AS notOnce
    FROM (SELECT event_id, sum(sign) AS signs FROM events WHERE artifact = '${packageId}'
      GROUP BY event_id, version, import_id HAVING signs != 0)`);
  return { events: Number(counted?.events), notOnce: Number(counted?.notOnce) };
}
