import type { LibraryType } from "../../schemas/records/artifact.js";

/** The parameters of generated events. The same mix always gives the same lines. */
export interface EventMix {
  seed: number;
  /** Number of non-blank lines. */
  count: number;
  packages: readonly { id: string; libraryType: LibraryType }[];
  pixels?: readonly { id: string }[];
  /** First UTC day of the events, `YYYY-MM-DD`. */
  from: string;
  days: number;
  /** Share of lines with an error or a warning; default 0.02. */
  brokenShare?: number;
  /** Share of lines with the `$unique_id` of an earlier line; default 0.1. */
  overrideShare?: number;
  /** `line`: every line names its artifact, as the multi-artifact path requires; `path`: the path names it. */
  target?: "path" | "line";
  /** Distinct clients of each kind of package; default a sixth of `count`, between 50 and 30,000. */
  clients?: number;
  /** Number of the first line. An import that continues the numbers of another also overrides its events. */
  startAt?: number;
}
