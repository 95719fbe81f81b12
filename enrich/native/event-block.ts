import type { EnrichedEvent } from "../../schemas/records/enriched-event.js";
import { encodeBlock } from "./columns.js";
import { eventColumns, type EventOrigin } from "./event-columns.js";

/**
 * Collects events as columns of the `events` table and encodes them as one Native block. The columns live as long
 * as the block object: `clear` keeps their memory for the next batch.
 */
export class EventBlock {
  readonly table = "events";
  rows = 0;
  private readonly stored = eventColumns();
  private readonly all = Object.values(this.stored);
  /** Names the columns: the rest have defaults in ClickHouse. */
  readonly insertQuery = `INSERT INTO events (${Object.keys(this.stored).join(", ")}) FORMAT Native`;

  add(event: EnrichedEvent, origin: EventOrigin): void {
    for (const { column, add } of this.all) add(column, event, origin);
    this.rows++;
  }

  encode(): Buffer[] {
    const columns = Object.entries(this.stored).map(([name, { column }]) => [name, column] as const);
    return encodeBlock(Object.fromEntries(columns), this.rows);
  }

  clear(): void {
    this.rows = 0;
    for (const { column } of this.all) column.clear();
  }
}
