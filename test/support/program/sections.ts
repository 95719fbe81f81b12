import { generateBody } from "../../../deploy/demo/generate-events.js";
import type { KnownArtifact } from "../imports/recount-line.js";

/** Lines of one body that are all about one package: bodies of any length are counted again section by section. */
export interface Section {
  artifact: KnownArtifact;
  seed: number;
  count: number;
}

/** The bytes of the sections, one after the other, each line naming its package. */
export function* sectionBytes(sections: readonly Section[]): Generator<Buffer> {
  for (const { artifact, seed, count } of sections)
    yield* generateBody({
      seed,
      count,
      packages: [{ id: artifact.id, libraryType: artifact.libraryType || "other" }],
      target: "line",
      from: "2025-03-10",
      days: 30,
      clients: 3_000,
      overrideShare: 0.2,
    });
}
