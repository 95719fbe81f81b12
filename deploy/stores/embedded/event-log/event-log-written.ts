import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { EventLogUnavailable } from "../../../../schemas/records/event-log.js";

/**
 * Passes on the result of a write to LMDB, or throws the fault behind its failure. LMDB's binding keeps the reason
 * in a promise of its own, and on a full disk that reason is often only "Input/output error": so the sentence adds
 * the room that is left.
 */
export async function written<Result>(writing: Promise<Result>, { file }: { file: string }): Promise<Result> {
  try {
    return await writing;
  } catch (error) {
    const reason = (error as { commitError?: Promise<never> } | undefined)?.commitError;
    const cause = reason ? await reason.catch((rejected: unknown) => rejected) : error;
    const megabytes = Math.floor((await freeBytes(file)) / 1e6);
    throw new EventLogUnavailable(`the event log could not be written; its disk has ${megabytes} MB left`, {
      cause,
    });
  }
}

/** A few commits of the largest size. */
const ROOM_BYTES_MIN = 64 * 2 ** 20;

/** Throws while the disk has no room for appends, so that `/readyz` says so before one is refused. */
export async function requireRoom({ file }: { file: string }, free = freeBytes): Promise<void> {
  const bytes = await free(file);
  if (bytes < ROOM_BYTES_MIN)
    throw new Error(`the disk of the event log has ${Math.floor(bytes / 1e6)} MB left`);
}

async function freeBytes(file: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(file));
  return bavail * bsize;
}
