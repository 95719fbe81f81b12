import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";

/** A numbered change to a database, applied once. */
export interface Migration {
  number: number;
  /** The file's name, which begins with the number. */
  name: string;
  text: string;
  /** SHA-256, hexadecimal. Differs once a released migration is changed. */
  checksum: string;
}

/** A migration as the database has recorded it. */
export type Applied = Pick<Migration, "number" | "name" | "checksum">;

/** The names of migration files: `001-accounts.sql`. */
const MIGRATION_FILE = /^\d{3}-.*\.sql$/;

/** The migration files below a folder (a URL that ends with a slash), in the order of their numbers. */
export async function readMigrationFiles(folder: URL): Promise<{ name: string; text: string }[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) =>
    MIGRATION_FILE.test(basename(path)),
  );
  const files = await Promise.all(
    paths.map(async (path) => ({
      name: basename(path),
      text: await readFile(new URL(path, folder), "utf8"),
    })),
  );
  return files.sort((one, other) => (one.name < other.name ? -1 : 1));
}

export function migrationOf(name: string, text: string, checksum = sha256(text)): Migration {
  return { number: Number(name.slice(0, 3)), name, text, checksum };
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The migrations to apply. Throws a message for the operator if the database does not fit this program. */
export function missingMigrations(known: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const byNumber = new Map(known.map((migration) => [migration.number, migration]));
  for (const { number, name, checksum } of applied) {
    const migration = byNumber.get(number);
    if (migration === undefined) {
      throw new Error(`the database is newer than this program: it has migration ${name}, unknown here`);
    }
    if (migration.checksum !== checksum) {
      throw new Error(`migration ${name} was applied with another text than this program's`);
    }
  }
  const done = new Set(applied.map(({ number }) => number));
  return known.filter(({ number }) => !done.has(number));
}
