import type { LineFormat } from "../../../schemas/records/import-format.js";
import type { ImportPath, LineFields } from "../decode-line.js";
import type { LineFault } from "../line-fault.js";

/** A line that is no event and no fault: a comment, a request that is no download, a row of empty cells. */
export const NO_EVENT = Symbol("no event");

/** A line that is refused. */
export interface Rejected {
  fault: LineFault;
}

/**
 * The fields of a line; undefined if it is no line of the format. Never throws. Some formats name their columns in a
 * comment, so one reader reads the lines of a chunk in order.
 */
export type ReadLine = (
  text: string,
  /** 1-based in the body. */
  line: number,
) => LineFields | Rejected | typeof NO_EVENT | undefined;

export type OpenFormat = (
  /** Where `artifactKind` is `any`, a line names its package or pixel. */
  chunk: Pick<LineFormat, "path" | "header"> & Pick<ImportPath, "artifactKind">,
) => ReadLine;
