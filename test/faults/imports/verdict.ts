import type { KnownArtifact } from "../../support/imports/recount-line.js";
import type { ImportAnswer, SentImport } from "./send-import.js";

/** The imports that a seed sent, with their answers. */
export interface SeedOutcome {
  packages: readonly KnownArtifact[];
  sent: readonly (SentImport & ImportAnswer)[];
}

/** Broken promises after a seed; all zero when each was kept. */
export interface Verdict {
  /** Acknowledged lines that are not live. */
  lost: number;
  /** Lines that are live more than once, or that nobody was promised. */
  doubled: number;
  /** Breakdowns that differ from the model or from a recount of the raw rows. */
  mismatched: number;
  /** Imports with wrong counts or a wrong status. */
  miscounted: number;
  /** Imports still unfinished or unsettled. */
  stuck: number;
  details: string[];
}
