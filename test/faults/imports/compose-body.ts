import { generateLines } from "../../../deploy/demo/generate-events.js";
import { Random } from "../../../deploy/demo/random.js";
import type { PlannedImport } from "../plans/plan-seed.js";

/** Long enough that a few thousand lines are several chunks. */
const FILLER = "x".repeat(700);

/** The lines of an import, good ones first: an id in three out of four, now and then one that the same body had before. */
export function composeBody(
  planned: PlannedImport,
  { seed, packageId }: { seed: number; packageId: string },
): { good: string[]; refused: string[] } {
  const random = new Random(seed + planned.startAt + planned.lines);
  const mix = {
    seed: seed * 31 + planned.lines,
    count: planned.lines,
    clients: 300,
    from: "2025-03-10",
    days: 10,
    packages: [{ id: packageId, libraryType: "docker" as const }],
    overrideShare: 0,
    brokenShare: 0,
  };
  const good: string[] = [];
  for (const line of generateLines(mix)) {
    if (line.trim() === "") continue;
    const at = random.chance(0.1) ? random.below(good.length + 1) : good.length;
    const id = random.chance(0.75) ? `,"$unique_id":"e${planned.startAt + at}"` : "";
    good.push(`${line.slice(0, -1)},"filler":"${FILLER}"${id}}`);
  }
  const refused = Array.from(
    { length: planned.refused },
    (_, index) => `not an event ${planned.key} ${index}`,
  );
  return { good, refused };
}
