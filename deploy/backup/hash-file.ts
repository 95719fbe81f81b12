import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Copied } from "./copy-hashed.js";

export async function hashFile(path: string): Promise<Copied> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const part of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    hash.update(part);
    size += part.length;
  }
  return { size, sha256: hash.digest("hex") };
}
