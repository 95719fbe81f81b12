import type { KnownArtifact } from "../../support/imports/recount-line.js";
import type { ImportAnswer, SentImport } from "./send-import.js";
import type { Client } from "pg";
import { pause } from "../../../schemas/async/pause.js";
import { ENRICH_GROUP } from "../../../schemas/records/event-log.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { FaultWorld } from "../worlds/fault-world.js";

/** The imports that a seed sent, with their answers. */
export interface SeedOutcome {
  packages: readonly KnownArtifact[];
  sent: readonly (SentImport & ImportAnswer)[];
}

/** Broken promises after a seed; all zero when each was kept. */
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

/** An insert waits for a minute, for each of its tables, for a replica that does not come back. */
const PATIENCE_MS = 300_000;
const POLL_MS = 150;

/** An import as the database has it. */
export interface StoredImport {
  id: string;
  packageId: string;
  status: EventImport["status"];
  retracted: boolean;
  /** The Idempotency-Key that leads to it. */
  key: string | null;
  settled: boolean;
}

/**
 * Waits until no import of the packages is unfinished or unsettled, and nothing of them waits in the event log; the verdict
 * counts those that stay so. Chunks that nobody has reported may have rows, of a range that was cut short: those of an import
 * that was aborted meanwhile go when the range is written again.
 */
export async function whenAtRest(
  world: FaultWorld,
  packages: readonly KnownArtifact[],
  verdict: Verdict,
): Promise<StoredImport[]> {
  const deadline = Date.now() + PATIENCE_MS;
  const ids = packages.map(({ id }) => id);
  for (;;) {
    const imports = await world.withPostgres((pg) => readImports(pg, ids)).catch(() => undefined);
    const restless = imports?.filter(({ status, settled }) => status === "importing" || !settled);
    if (imports !== undefined && restless?.length === 0 && (await isLogRead(world).catch(() => false)))
      return imports;
    if (Date.now() > deadline) {
      verdict.stuck += Math.max(restless?.length ?? 0, 1);
      verdict.details.push(`at rest never came: ${JSON.stringify(restless)}`);
      return imports ?? [];
    }
    await pause(POLL_MS);
    await world.whenRunning();
  }
}

async function isLogRead({ programs }: FaultWorld): Promise<boolean> {
  const [program] = programs as [FaultWorld["programs"][0]];
  await using log = await program.openLog();
  return (await log.lag(ENRICH_GROUP)) === 0;
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

/** Checks what became of every import that was sent, and that nothing is left of those that nobody was promised. */
export async function checkImports(
  world: FaultWorld,
  { sent, imports }: Pick<SeedOutcome, "sent"> & { imports: readonly StoredImport[] },
  verdict: Verdict,
): Promise<void> {
  for (const one of sent) {
    await checkRecord(world, { one, imports, verdict });
    verdict.miscounted += one.complaints.length;
    verdict.details.push(...one.complaints);
  }
  // Their key was freed for another start: they were refused, or their sender was lost.
  for (const one of imports.filter(({ key }) => key === null)) {
    if (one.status === "aborted" && one.retracted) continue;
    verdict.miscounted += 1;
    verdict.details.push(`an import that nobody was promised is there: ${JSON.stringify(one)}`);
  }
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
  const isRetracted = planned.ending !== "keep";
  const counts = [
    record.events_total,
    record.events_successfully_imported,
    record.events_failed_to_import,
  ].join(" ");
  const expected = [good.length + refused.length, good.length, refused.length].join(" ");
  const right =
    stored?.id === answeredId &&
    (isRetracted ? stored?.retracted === true : record.status === "done" && !stored?.retracted) &&
    (record.status === "aborted" || counts === expected);
  if (right) return;
  verdict.miscounted += 1;
  verdict.details.push(
    `${planned.key} (${planned.ending}) was answered ${answeredId}, is ${JSON.stringify(stored)} with counts ${counts}, not ${expected}`,
  );
}
