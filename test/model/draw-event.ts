import type { Random } from "../../deploy/demo/random.js";
import { DAY_MS } from "../../schemas/date-range.js";
import { sentEvent, type SentEvent } from "../support/statistics/sent-events.js";
import type { ModelArtifact } from "./model.js";

/** So few ids that many events override others, of other imports and of the same. */
const IDS = 40;
const DAYS = 85;

export function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}

/** An event of an import, of one of the last days. */
export function drawEvent(random: Random, artifacts: readonly ModelArtifact[]): SentEvent {
  return sentEvent(random, {
    artifact: random.pick(artifacts),
    key: `id-${random.below(IDS)}`,
    day: dayBefore(1 + random.belowSkewed(DAYS, 20)),
  });
}

/** An event of a live request: of today, by somebody with an address of their own. */
export function drawCollected(random: Random, artifact: ModelArtifact): SentEvent {
  for (;;) {
    const drawn = sentEvent(random, { artifact, key: "", day: dayBefore(0) });
    if (drawn.place.country === "") continue;
    const version = artifact.kind === "package" ? random.pick(["1.0", "1.1"]) : "";
    const variables =
      artifact.kind === "package" ? { version, channel: random.pick(["stable", "beta"]) } : {};
    return { ...drawn, version, variables };
  }
}
