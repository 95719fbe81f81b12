import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

export interface Copied {
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

/** Most files of ClickHouse are tiny: these are read whole, without a stream. */
const WHOLE_BYTES_MAX = 2 ** 20;

/** Copies a file (mode 0600) and hashes its bytes on the way. Fails when the target exists. */
export async function copyHashed(
  from: string,
  to: string,
  { size: expected }: { size: number },
): Promise<Copied> {
  const hash = createHash("sha256");
  if (expected > WHOLE_BYTES_MAX) return copyStreamed(from, to, hash);
  const bytes = await readFile(from);
  await writeFile(to, bytes, { mode: 0o600, flag: "wx" });
  return { size: bytes.length, sha256: hash.update(bytes).digest("hex") };
}

async function copyStreamed(from: string, to: string, hash: Hash): Promise<Copied> {
  let size = 0;
  await pipeline(
    createReadStream(from, { highWaterMark: 2 ** 20 }),
    async function* (parts: AsyncIterable<Buffer>) {
      for await (const part of parts) {
        hash.update(part);
        size += part.length;
        yield part;
      }
    },
    createWriteStream(to, { mode: 0o600, flags: "wx" }),
  );
  return { size, sha256: hash.digest("hex") };
}
