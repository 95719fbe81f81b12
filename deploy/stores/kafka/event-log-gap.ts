import type { Logger } from "pino";

/** A gap in the log at a group's position. Kafka does not report it to a consumer that goes on. */
export interface Gap {
  /** Offsets that were deleted unread. Undefined if the log began anew before them. */
  lost: { first: number; last: number } | undefined;
  /** The offset that the group was at, and the one at which the log goes on. */
  expected: number;
  found: number;
}

/** Undefined when `found` is the record that was expected, or nothing was. */
export function gapAt(found: number, expected: number | undefined): Gap | undefined {
  if (expected === undefined || found === expected) return undefined;
  return { expected, found, lost: found > expected ? { first: expected, last: found - 1 } : undefined };
}

export interface GapPlace {
  topic: string;
  partition: number;
  group: string;
}

/** Answers how many records are known to be lost. */
export function logGap(log: Logger, { lost, expected, found }: Gap, place: GapPlace): number {
  const words = { ...place, expected, found };
  const { partition } = place;
  if (lost === undefined) {
    log.error(
      words,
      `the event log goes back from offset ${expected} to ${found} in partition ${partition}: it was cut short or made anew, and what is left is read again`,
    );
    return 0;
  }
  const records = lost.last - lost.first + 1;
  log.error(
    { ...words, records },
    `${records} records of the event log are gone before they were read: partition ${partition}, offsets ${lost.first} to ${lost.last}`,
  );
  return records;
}
