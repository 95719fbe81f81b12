import { parse } from "csv-parse/sync";
import { firstDifference } from "../../support/imports/recount-aggregates.js";
import { linesByReceipt } from "../../support/imports/recount.js";
import type { CountedEvent, KnownArtifact } from "../../support/imports/recount-line.js";
import { countLive } from "../../support/stores/open-clickhouse.js";
import type { Verdict } from "../imports/check-imports.js";
import { countDifferingRows } from "../imports/check-seed.js";
import type { FaultWorld } from "../worlds/fault-world.js";

/** When something was asked for, and when it was answered; times of `performance.now()`. */
interface Asked {
  id: string;
  askedAt: number;
  answeredAt: number;
}

export interface SentLines extends Asked {
  lines: readonly string[];
}

export interface AskedErasure extends Asked {
  endpoint: string;
  address: string;
}

interface Erased {
  artifact: KnownArtifact;
  sent: readonly SentLines[];
  erasures: readonly AskedErasure[];
}

const RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };

/** Aggregates, CSV and the tables of ClickHouse have what the model has: the lines in their order without the erased ones. */
export async function checkErasures(world: FaultWorld, erased: Erased, verdict: Verdict): Promise<void> {
  const { artifact, sent, erasures } = erased;
  const before = await importsBefore(world, erased, verdict);
  const kept = await world.withPostgres((pg) =>
    linesByReceipt(
      pg,
      sent.map(({ id, lines }) => ({ importId: id, lines })),
    ),
  );
  const importOf = new Map(sent.flatMap(({ id, lines }) => lines.map((line) => [line, id] as const)));
  const isErased = (line: string) =>
    erasures.some(
      ({ id, address }) =>
        line.includes(`"${address}"`) && before.get(id)?.has(importOf.get(line) ?? "") === true,
    );
  const body = Buffer.from(kept.filter((line) => !isErased(line)).join("\n"));
  const model = world.recountBodies([{ bytes: body, target: artifact.id }], [artifact]);
  const complain = (text: string) => void verdict.details.push(text);

  const lines = await world.api.readAggregates(world.organization, RANGE);
  const difference = firstDifference(
    lines.filter((line) => line.package === artifact.id),
    model.aggregates,
  );
  if (difference !== "") {
    verdict.mismatched += 1;
    complain(`the aggregates differ from the model: ${difference}`);
  }
  const rows = await exportedRows(world, artifact);
  const expected = model.live.map(exportedRow).sort();
  if (JSON.stringify(rows) !== JSON.stringify(expected)) {
    verdict.mismatched += 1;
    complain(`the CSV has ${rows.length} events, not the ${expected.length} of the model`);
  }
  const live = await countLive(world.clickhouse, artifact.id);
  const views = await countDifferingRows(world.clickhouse, artifact.id);
  verdict.lost += Math.max(0, model.live.length - live.events);
  verdict.doubled += Math.max(0, live.events - model.live.length) + live.notOnce;
  verdict.mismatched += views.length;
  if (live.events !== model.live.length || live.notOnce > 0 || views.length > 0)
    complain(`${artifact.id}: ${JSON.stringify({ expected: model.live.length, ...live, views })}`);
  for (const erasure of erasures) {
    const imports = before.get(erasure.id) ?? new Set();
    const keptDays = daysOf(
      erasure,
      sent.filter(({ id }) => !imports.has(id)),
    );
    const left = await leftOf(world, { artifact, erasure, imports: [...imports], keptDays });
    if (Object.values(left).every((count) => Number(count) === 0)) continue;
    verdict.miscounted += 1;
    complain(`an erased client is left: ${JSON.stringify(left)}`);
  }
}

/** The imports that an erasure is about: certainly those that were answered before it, and none that began after it. */
async function importsBefore(
  world: FaultWorld,
  { sent, erasures }: Erased,
  verdict: Verdict,
): Promise<Map<string, Set<string>>> {
  const before = new Map<string, Set<string>>();
  for (const erasure of erasures) {
    const text = `select i.id from erasures e
      join imports i on i.owner_id = e.owner_id and (i.last_stamp < e.stamp or i.id = any(e.imports)) where e.id = $1`;
    const rows = await world.withPostgres(
      async (pg) => (await pg.query<{ id: string }>(text, [erasure.id])).rows,
    );
    const found = new Set(rows.map(({ id }) => id));
    before.set(erasure.id, found);
    const wrong = sent.filter(({ id, askedAt, answeredAt }) =>
      found.has(id) ? askedAt > erasure.answeredAt : answeredAt < erasure.askedAt,
    );
    verdict.miscounted += wrong.length;
    if (wrong.length > 0) verdict.details.push(`an erasure is about the wrong imports: ${wrong.length}`);
  }
  return before;
}

async function exportedRows({ api }: FaultWorld, { id }: KnownArtifact): Promise<string[]> {
  const { startDate, endDate } = RANGE;
  const csv = await api.readLines(
    `/v1/packages/${id}/events/e.csv?startDate=${startDate}&endDate=${endDate}`,
  );
  const rows = parse<Record<string, string>>(csv.join("\n"), { columns: true });
  return rows
    .map(({ time = "", user_agent, variables }) =>
      JSON.stringify([time.slice(0, 10), user_agent, sortedPairs(variables)]),
    )
    .sort();
}

function exportedRow({ time, userAgent, variables }: CountedEvent): string {
  const pairs = [...variables].map((pair) => pair.join("=").replace("\0#", "")).join("&");
  return JSON.stringify([new Date(time).toISOString().slice(0, 10), userAgent, sortedPairs(pairs)]);
}

const sortedPairs = (text = "") => text.split("&").sort().join("&");

function daysOf({ address }: AskedErasure, sent: readonly SentLines[]): string[] {
  const lines = sent.flatMap((one) => one.lines).filter((line) => line.includes(`"${address}"`));
  return [...new Set(lines.map((line) => (JSON.parse(line) as { $time: string }).$time.slice(0, 10)))];
}

interface LeftBy {
  artifact: KnownArtifact;
  erasure: AskedErasure;
  imports: readonly string[];
  /** Days with events of the client that came after the erasure. Their rows may add up to nothing: overrides are stored so. */
  keptDays: readonly string[];
}

/** Nothing of the client may be in these: rows of the imports, versions that are live, and addresses that add up to nothing. */
async function leftOf({ clickhouse }: FaultWorld, { artifact, erasure, imports, keptDays }: LeftBy) {
  const listed = imports.map((id) => `'${id}'`).join(", ");
  const days = keptDays.map((day) => `'${day}'`).join(", ");
  const [left] = await clickhouse.rows<Record<"events" | "event_ids" | "uniques", string>>(`
    SELECT
      (SELECT count() FROM events WHERE artifact = '${artifact.id}' AND endpoint_id = unhex('${erasure.endpoint}')
        AND import_id IN (${listed})) AS events,
      (SELECT count() FROM (SELECT 1 FROM event_ids
        WHERE (artifact, event_id, version, import_id) IN
          (SELECT artifact, event_id, version, import_id FROM erased_versions WHERE erasure = '${erasure.id}')
        GROUP BY artifact, event_id, version, import_id HAVING sum(live) != 0)) AS event_ids,
      (SELECT count() FROM (SELECT 1 FROM uniques
        WHERE package = '${artifact.id}' AND address = reinterpretAsUInt64(unhex('${erasure.endpoint}'))
          AND toString(date) NOT IN (${days})
        GROUP BY date HAVING sum(total) = 0)) AS uniques`);
  return left ?? { events: "unknown", event_ids: "unknown", uniques: "unknown" };
}
