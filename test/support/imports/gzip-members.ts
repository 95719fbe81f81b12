import { gzipSync } from "node:zlib";

const MEMBER_BYTES = 32 * 2 ** 20;

/**
 * A gzip body of `bytes` that repeats `text`: whole copies, in members of about 32 MiB that are compressed once. A
 * thousand times smaller than what comes out of it, and as cheap to make.
 */
export function* gzipMembers(text: string | Buffer, { bytes }: { bytes: number }): Generator<Buffer> {
  const copy = Buffer.from(text);
  const copies = Math.floor(bytes / copy.length);
  const perMember = Math.max(1, Math.floor(MEMBER_BYTES / copy.length));
  const member = gzipSync(copiesOf(copy, perMember));
  let left = copies;
  for (; left >= perMember; left -= perMember) yield member;
  if (left > 0) yield gzipSync(copiesOf(copy, left));
}

function copiesOf(copy: Buffer, count: number): Buffer {
  return Buffer.alloc(copy.length * count, copy);
}
