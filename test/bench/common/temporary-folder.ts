import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder extends AsyncDisposable {
  /** Absolute. */
  readonly path: string;
}

/** A folder that is deleted on disposal, or when this process exits. */
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

// A killed store may still write a file while the folder is deleted.
const FORCED = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const;
