import type { LibraryType } from "../../schemas/artifact.js";
import { openComposer } from "./compose-line.js";

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

/** The lines of an NDJSON body, without line ends; now and then a blank one, which `count` leaves out. */
export function* generateLines(mix: EventMix): Generator<string> {
  const compose = openComposer(mix);
  const first = mix.startAt ?? 0;
  for (let index = first; index < first + mix.count; index += 1) {
    yield compose(index);
    if (index % 500 === 250) yield index % 1000 === 250 ? "" : " \t";
  }
}

/** The same as a body: blocks of about 64 KiB, cut anywhere, `\n` after every line and now and then `\r\n`. */
export function* generateBody(mix: EventMix): Generator<Buffer> {
  let held = "";
  for (const line of generateLines(mix)) {
    held += line;
    if (held.length < BLOCK_CHARACTERS) {
      held += "\n";
      continue;
    }
    yield Buffer.from(`${held}\r\n`);
    held = "";
  }
  if (held.length > 0) yield Buffer.from(held);
}

const BLOCK_CHARACTERS = 64 * 1024;
