import { open } from "node:fs/promises";

/**
 * A file's bytes in memory that worker threads share: passing them through `workerData` copies nothing.
 * A file that cannot be read is an error that names `purpose` and the path.
 */
export async function readShared(path: string, purpose: string): Promise<Uint8Array> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const bytes = new Uint8Array(new SharedArrayBuffer(size));
    let filled = 0;
    while (filled < size) {
      const { bytesRead } = await file.read(bytes, filled, size - filled, filled);
      if (bytesRead === 0) throw new Error("the file became shorter while it was read");
      filled += bytesRead;
    }
    return bytes;
  } catch (error) {
    throw new Error(`The ${purpose} ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
