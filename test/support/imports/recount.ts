import type { AggregateV1 } from "../../../schemas/contracts/aggregate.js";
import type { Lookups } from "../../../schemas/records/enriched-event.js";
import type { LogType } from "../../../schemas/records/import-log.js";
import { aggregateEvents } from "./recount-aggregates.js";
import { type CountedEvent, type KnownArtifact, recountLine } from "./recount-line.js";
import type { Client } from "pg";

/** One import as it was received. */
export interface ReceivedBody {
  bytes: Buffer;
  /** The artifact that the path names; left out for the multi-artifact path. */
  target?: string;
}

interface RecountContext {
  /** Every package and pixel that the importer may import into. */
  artifacts: readonly KnownArtifact[];
  lookups: Pick<Lookups, "clients" | "places" | "networks">;
  /** Time of receipt, milliseconds since the epoch. */
  receivedAt: number;
}

interface ExpectedEntry {
  /** 1-based, blank lines counted. */
  line: number;
  class: "error" | "warning";
  type: LogType;
}

export interface ExpectedImport {
  total: number;
  successful: number;
  failed: number;
  entries: ExpectedEntry[];
}

export interface Recount {
  aggregates: AggregateV1[];
  /** In the order of the bodies. */
  imports: ExpectedImport[];
  /** Events that no later line replaced, pixel events included. */
  live: CountedEvent[];
}

/**
 * Counts raw NDJSON bodies again, in the order of receipt, in a second and independent implementation of the rules
 * for lines, overrides and aggregates: what the service answers must equal it.
 */
export function recount(bodies: readonly ReceivedBody[], context: RecountContext): Recount {
  const live = new Map<string, CountedEvent>();
  const imports = bodies.map((body, index) =>
    recountBody(body, { ...context, live, bodyName: `body ${index}` }),
  );
  const events = [...live.values()];
  return { aggregates: aggregateEvents(events, context.lookups), imports, live: events };
}

interface BodyContext extends RecountContext {
  live: Map<string, CountedEvent>;
  bodyName: string;
}

function recountBody(body: ReceivedBody, context: BodyContext): ExpectedImport {
  const expected: ExpectedImport = { total: 0, successful: 0, failed: 0, entries: [] };
  const lineContext = { ...context, target: body.target };
  linesOf(body.bytes).forEach((line, index) => {
    if (/^[ \t\r]*$/.test(line.toString("latin1"))) return;
    const { event, findings } = recountLine(line, lineContext);
    expected.total += 1;
    if (event === undefined) expected.failed += 1;
    else expected.successful += 1;
    for (const finding of findings) expected.entries.push({ line: index + 1, ...finding });
    if (event !== undefined) context.live.set(scopeOf(event, `${context.bodyName} line ${index}`), event);
  });
  return expected;
}

/** The key that a later line must share to replace this event: artifact and unique id, or a key of its own. */
function scopeOf({ artifact, key }: CountedEvent, place: string): string {
  return JSON.stringify(key === undefined ? ["line", place] : ["id", artifact.id, key]);
}

/** The lines of a body, without their line ends; blank ones too. */
export function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf("\n"); end >= 0; end = bytes.indexOf("\n", start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return start < bytes.length ? [...lines, bytes.subarray(start)] : lines;
}

/** Lines of one import, none of them blank or broken. */
interface SentLines {
  importId: string;
  lines: readonly string[];
}

/**
 * The lines of several imports in the order in which they count: by the receipt of their chunk, which the service
 * notes before it looks at a line, then by their place in the chunk. Chunks of two imports that were received in the
 * same millisecond share a place; then the greater import id comes last, in ClickHouse's order, which compares the
 * second half of a UUID first (https://clickhouse.com/docs/sql-reference/data-types/uuid).
 */
export async function linesByReceipt(pg: Client, imports: readonly SentLines[]): Promise<string[]> {
  const placed = [];
  for (const { importId, lines } of imports) {
    const { rows } = await pg.query<{ stamp: number; events: number }>(
      "select receipt_stamp::float8 as stamp, events from import_chunks where import_id = $1 order by sequence",
      [importId],
    );
    let next = 0;
    for (const { stamp, events } of rows) {
      const chunk = lines.slice(next, next + events);
      placed.push(...chunk.map((line, place) => ({ line, stamp, place, order: orderOf(importId) })));
      next += events;
    }
    if (next !== lines.length) throw new Error(`${next} of ${lines.length} lines are in chunks`);
  }
  placed.sort((a, b) => a.stamp - b.stamp || a.place - b.place || (a.order < b.order ? -1 : 1));
  return placed.map(({ line }) => line);
}

function orderOf(uuid: string): string {
  return uuid.slice(19) + uuid.slice(0, 19);
}

/** How often a line replaced an earlier one with the same id, by what it changed and where the earlier one was. */
interface Overrides {
  sameDay: number;
  otherDay: number;
  otherAddress: number;
  /** In one body the third line or later with its id. */
  repeated: number;
  acrossBodies: number;
}

interface Earlier {
  day: number;
  address: string;
  body: number;
  count: number;
}

/** Tells whether generated bodies have what a test of overrides needs. */
export function countOverrides(bodies: readonly Buffer[], artifacts: readonly KnownArtifact[]): Overrides {
  const counts = { sameDay: 0, otherDay: 0, otherAddress: 0, repeated: 0, acrossBodies: 0 };
  const seen = new Map<string, Earlier>();
  bodies.forEach((bytes, body) => {
    for (const line of bytes.toString().split("\n")) {
      const { event } = recountLine(Buffer.from(line), {
        target: undefined,
        artifacts,
        receivedAt: Date.now(),
      });
      if (event?.key === undefined) continue;
      const id = `${event.artifact.id} ${event.key}`;
      const day = Math.floor(event.time / 86_400_000);
      const earlier = seen.get(id);
      const count = earlier?.body === body ? earlier.count + 1 : 1;
      seen.set(id, { day, address: event.address, body, count });
      if (earlier === undefined) continue;
      counts[earlier.day === day ? "sameDay" : "otherDay"] += 1;
      counts.otherAddress += Number(earlier.address !== event.address);
      counts.repeated += Number(count > 2);
      counts.acrossBodies += Number(earlier.body !== body);
    }
  });
  return counts;
}
