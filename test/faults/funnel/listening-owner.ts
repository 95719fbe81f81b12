import type { Receiver } from "../../support/api/receivers.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import type { PlannedOwner } from "./plan-funnel-seed.js";

/** An owner of the seed with its artifacts and the receivers of its webhooks. */
export interface ListeningOwner {
  planned: PlannedOwner;
  image: KnownArtifact;
  docs: KnownArtifact;
  listeners: { secret: string; receiver: Receiver }[];
}
