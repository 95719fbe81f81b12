import { once } from "node:events";
import type { Writable } from "node:stream";

/**
 * Writes all parts, and takes the next one only when the last is written: a source may then fill one buffer again and
 * again. With `pipeline`, which reads ahead, a file of any size leaves some 35 MB of buffers to collect. An error of the
 * source destroys `to`.
 */
export async function writeAll(source: AsyncIterable<Buffer>, to: Writable): Promise<void> {
  try {
    for await (const part of source)
      await new Promise<void>((resolve, reject) =>
        to.write(part, (error) => (error ? reject(error) : resolve())),
      );
    to.end();
    await once(to, "finish");
  } catch (error) {
    to.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}
