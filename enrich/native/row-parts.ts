import type { EnrichedEvent } from "../../schemas/records/enriched-event.js";
import { LowCardinalityColumn, type Column, type RowColumn } from "./columns.js";
import { SharedValues } from "./shared-values.js";

/** The values that all events of a chunk share. */
export interface EventOrigin {
  /** UUID of the import, or the nil UUID for live events. */
  importId: string;
  /** Names the chunk or import among all: with the line it is the key of an event without `$unique_id`. */
  keyPrefix: string;
  /** Receipt of the chunk in ms: orders the versions of an event. */
  receiptStamp: number;
  /** First line of the chunk, 1-based. */
  firstLine: number;
}

/** The parts of a block that each event adds to: columns, and shared objects that columns are made of. */
export class RowParts {
  private readonly parts: RowPart[] = [];

  add(event: EnrichedEvent, origin: EventOrigin): void {
    for (const part of this.parts) part.add(event, origin);
  }

  clear(): void {
    for (const part of this.parts) part.clear();
  }

  /** A column that each event adds a value to. */
  column<Kind extends RowColumn>(
    column: Kind,
    add: (column: Kind, event: EnrichedEvent, origin: EventOrigin) => void,
  ): Kind {
    this.parts.push({
      add: (event, origin) => add(column, event, origin),
      clear: () => column.clear(),
    });
    return column;
  }

  /** A column of repeated texts. */
  texts(of: (event: EnrichedEvent) => string): Column {
    return this.column(new LowCardinalityColumn(), (column, event) => column.add(of(event)));
  }

  /** Objects that many events share. */
  shared<T extends object>(of: (event: EnrichedEvent, origin: EventOrigin) => T): SharedValues<T> {
    const values = new SharedValues<T>();
    this.parts.push({
      add: (event, origin) => values.add(of(event, origin)),
      clear: () => values.clear(),
    });
    return values;
  }
}

interface RowPart {
  add(event: EnrichedEvent, origin: EventOrigin): void;
  clear(): void;
}
