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
  /** Names the columns: the rest have defaults in ClickHouse. */
  readonly insertQuery = `INSERT INTO events (${Object.keys(this.stored.columns).join(", ")}) FORMAT Native`;

  add(event: EnrichedEvent, origin: EventOrigin): void {
    for (const part of this.stored.parts) part.add(event, origin);
    this.rows++;
  }

  encode(): Buffer[] {
    return encodeBlock(this.stored.columns, this.rows);
  }

  clear(): void {
    this.rows = 0;
    for (const part of this.stored.parts) part.clear();
  }
}
