import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { bytesTag } from "../answers/entity-tag.js";
import type { ApiContext } from "../route.js";

/** A static file, compressed once. */
export interface PackedFile {
  type: string;
  bytes: Buffer;
  gzip: Buffer;
  /** Strong ETag of `bytes`. */
  tag: string;
}

export async function packFile(type: string, bytes: Buffer): Promise<PackedFile> {
  return { type, bytes, gzip: await promisify(gzip)(bytes), tag: bytesTag(bytes) };
}

/** For addresses that name the content. */
export const FOR_GOOD = "public, max-age=31536000, immutable";

/** Answers with a file that every cache may store. `cacheControl` says for how long. */
export function answerFile(
  ctx: ApiContext,
  { type, bytes, gzip, tag }: PackedFile,
  cacheControl: string,
): void {
  const isSmaller = gzip.length < bytes.length * WORTH_IT;
  const packed = isSmaller && ctx.acceptsEncodings("gzip", "identity") === "gzip";
  if (packed) ctx.set("Content-Encoding", "gzip");
  ctx.set({ ETag: tag, "Cache-Control": cacheControl });
  ctx.type = type;
  ctx.body = packed ? gzip : bytes;
}

/** Files that are already compressed, such as pictures, shrink by less than this. */
const WORTH_IT = 0.9;
