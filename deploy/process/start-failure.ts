import { statfsSync } from "node:fs";

/** A failure that only the operator can fix. The program prints the message and exits with a non-zero status. */
export class StartFailure extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "StartFailure";
  }
}

/** The sentences of an error and of what led to it, the last the first cause. */
export function causesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return typeof error === "string" ? [error] : [];
  return [error.message || error.name, ...causesOf(error.cause)];
}

const MIB = 1024 ** 2;
const NEARLY_FULL_BYTES = 64 * MIB;

const SENTENCES: Record<string, (path: string) => string> = {
  EACCES: (path) =>
    `This user (${userName()}) cannot write to ${path}: change its owner or mode, or choose another DATA_DIR.`,
  EPERM: (path) =>
    `This user (${userName()}) does not own ${path}: change its owner, or choose another DATA_DIR.`,
  EROFS: (path) => `${path} is on a read-only file system: choose another DATA_DIR.`,
  ENOSPC: (path) => `The disk of ${path} is full: free some space, or choose another DATA_DIR.`,
  EDQUOT: (path) => `The disk quota for ${path} is used up: free some space, or choose another DATA_DIR.`,
  ENOTDIR: (path) => `${path} is not a directory, or one of its parents is a file: choose another DATA_DIR.`,
  ENOENT: (path) => `${path} cannot be created: choose another DATA_DIR.`,
  EEXIST: (path) => `${path} exists and is not a directory: choose another DATA_DIR.`,
};

/** Returns a StartFailure for a failed file operation below `path`, or the error itself when its cause is unknown. */
export function explainFileError(error: unknown, path: string): unknown {
  const sentence = SENTENCES[(error as NodeJS.ErrnoException).code ?? ""];
  return sentence === undefined ? error : new StartFailure(sentence(path), { cause: error });
}

/** Adds to the sentence a warning when the disk of `dir` is nearly full, and the last lines of the store's log. */
export function storeFailure(sentence: string, { dir, tail }: { dir: string; tail: string }): StartFailure {
  const { bavail, bsize } = statfsSync(dir);
  const freeBytes = bavail * bsize;
  const disk =
    freeBytes < NEARLY_FULL_BYTES ? ` The disk has only ${Math.round(freeBytes / MIB)} MiB left.` : "";
  return new StartFailure(`${sentence}.${disk}${tail === "" ? "" : ` The end of its log:\n${tail}`}`);
}

function userName(): string {
  return `uid ${process.getuid?.() ?? "unknown"}`;
}
