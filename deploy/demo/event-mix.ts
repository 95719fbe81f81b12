import type { LibraryType } from "../../schemas/records/artifact.js";

/** What to generate. The same mix always gives the same lines. */
export interface EventMix {
  seed: number;
  /** Non-blank lines. */
  count: number;
  packages: readonly { id: string; libraryType: LibraryType }[];
  pixels?: readonly { id: string }[];
  /** First UTC day of the events, `YYYY-MM-DD`. */
  from: string;
  days: number;
  /** Lines with an error or a warning; default 0.02. */
  brokenShare?: number;
  /** Lines that carry the `$unique_id` of an earlier line; default 0.1. */
  overrideShare?: number;
  /** `line`: every line names its artifact, as the multi-artifact path wants; `path`: the one artifact is implied. */
  target?: "path" | "line";
  /** Distinct clients of each kind of package; default a sixth of `count`, between 50 and 30,000. */
  clients?: number;
  /** Number of the first line: a second import that goes on where the first ended also overrides its events. */
  startAt?: number;
}
