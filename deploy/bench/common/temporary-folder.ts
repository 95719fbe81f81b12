import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder extends AsyncDisposable {
  /** Absolute. */
  readonly path: string;
}

/** A folder that is gone with all it holds when disposed of, or at the latest when this process exits. */
export function makeTemporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), "maintainer-toolchain-bench-"));
  const remove = () => rmSync(path, FORCED);
  process.once("exit", remove);
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, FORCED);
      process.off("exit", remove);
    },
  };
}

// A store that was killed may write its last file while the folder is being emptied.
const FORCED = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const;
