import { pause } from "../../schemas/async/pause.js";
import { hasHeader, type ImportFormat } from "../../schemas/records/import-format.js";
import { HEADER_LINE_BYTES_MAX } from "./cut-format.js";
import { findOtherFormat } from "./find-other-format.js";
import { skipBlankLines } from "./skip-blank-lines.js";
import { WrongFormat } from "./wrong-format.js";

/** Lines of logs are told by their beginning. */
const HEAD_BYTES = 4 * 1024;
/** A sender that is slower, or idle for longer than it may be, is not waited for: its lines are then refused one by one. */
const WAIT_MS_MAX = 10_000;

export interface Claim {
  format: ImportFormat;
  idleMsMax?: number | undefined;
}

/** Gives back the whole body. @throws WrongFormat for one that is plainly in another format, before its first part */
export async function* assertFormat(
  body: AsyncIterable<Buffer>,
  { format, idleMsMax = Infinity }: Claim,
): AsyncGenerator<Buffer> {
  const parts = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  const read: Promise<IteratorResult<Buffer, undefined>>[] = [];
  const headBytes = hasHeader(format) ? HEADER_LINE_BYTES_MAX : HEAD_BYTES;
  let head = Buffer.alloc(0);
  const decided = new AbortController();
  const readHead = async () => {
    while (!decided.signal.aborted && head.length < headBytes && !skipBlankLines(head).rest.includes("\n")) {
      const next = parts.next();
      read.push(next);
      const { done, value } = await next;
      if (done) return;
      head = Buffer.concat([head, value]);
    }
  };
  const waitMs = Math.min(WAIT_MS_MAX, idleMsMax);
  await Promise.race([readHead().catch(() => undefined), pause(waitMs, { signal: decided.signal })]);
  decided.abort();
  const sentence = findOtherFormat(head, format);
  try {
    if (sentence !== undefined) throw new WrongFormat(format, sentence);
    for (const next of read) {
      const { done, value } = await next;
      if (done) return;
      yield value;
    }
    for (;;) {
      const { done, value } = await parts.next();
      if (done) return;
      yield value;
    }
  } finally {
    await parts.return?.();
  }
}
