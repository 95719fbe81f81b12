import type { AggregateV1 } from "../../../schemas/contracts/aggregate.js";
import type { Lookups } from "../../../schemas/records/enriched-event.js";
import type { LogType } from "../../../schemas/records/import-log.js";
import { aggregateEvents } from "./recount-aggregates.js";
import { linesOf } from "./lines-of.js";
import { type CountedEvent, type KnownArtifact, recountLine } from "./recount-line.js";

/** One import as it was received. */
export interface ReceivedBody {
  bytes: Buffer;
  /** The artifact that the path names; left out for the multi-artifact path. */
  target?: string;
}

export interface RecountContext {
  /** Every package and pixel that the importer may import into. */
  artifacts: readonly KnownArtifact[];
  lookups: Pick<Lookups, "clients" | "places" | "networks">;
  /** Time of receipt, milliseconds since the epoch. */
  receivedAt: number;
}

export interface ExpectedEntry {
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
