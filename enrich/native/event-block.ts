import type { EnrichedEvent } from "../../schemas/records/enriched-event.js";
import { encodeBlock } from "./columns.js";
import { eventColumns } from "./event-columns.js";
import { RowParts, type EventOrigin } from "./row-parts.js";

/**
 * Collects events as columns of the `events` table and encodes them as one Native block. The columns live as long
 * as the block object: `clear` keeps their memory for the next batch.
 */
export class EventBlock {
  readonly table = "events";
  rows = 0;
  private readonly parts = new RowParts();
  private readonly columns = eventColumns(this.parts);
  /** Names the columns: the rest have defaults in ClickHouse. */
  readonly insertQuery = `INSERT INTO events (${Object.keys(this.columns).join(", ")}) FORMAT Native`;

  add(event: EnrichedEvent, origin: EventOrigin): void {
    this.parts.add(event, origin);
    this.rows++;
  }

  /** Valid until the next event, or until the block is cleared. */
  encode(): Buffer[] {
    return encodeBlock(this.columns, this.rows);
  }

  clear(): void {
    this.rows = 0;
    this.parts.clear();
  }
}
