import type { KnownArtifact } from "../imports/recount-line.js";
import { recountLine } from "../imports/recount-line.js";

/** How often a line replaced an earlier one with the same id, by what it changed and where the earlier one was. */
export interface Overrides {
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
