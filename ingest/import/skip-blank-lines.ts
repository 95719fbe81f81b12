import { isBlank, withoutByteOrderMark } from "../../schemas/records/import-line.js";

export interface Beginning {
  blankLines: number;
  /** From the first line that is not blank, which may not have its end yet. */
  rest: Buffer;
}

/** A body may begin with blank lines, in every format. */
export function skipBlankLines(head: Buffer): Beginning {
  let at = 0;
  for (let blankLines = 0; ; blankLines++) {
    const end = head.indexOf("\n", at);
    if (end < 0 || !isBlank(withoutByteOrderMark(head.subarray(at, end))))
      return { blankLines, rest: head.subarray(at) };
    at = end + 1;
  }
}
