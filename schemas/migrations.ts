import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

export interface Migration {
  name: string;
  text: string;
  /** SHA-256 of the statements, hexadecimal. Differs once a released migration is changed. */
  checksum: string;
}

export type Applied = Pick<Migration, "name" | "checksum">;

/**
 * The SQL files of a folder (a URL that ends with a slash), by name; none if there is no such folder. `prefix` goes before each
 * name: those of an installation must differ.
 */
export async function readSqlFiles(folder: URL, prefix = ""): Promise<Migration[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files = names.filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (name) => migrationOf(prefix + name, await readFile(new URL(name, folder), "utf8"))),
  );
}

/** Comments and white space may change: the checksum is that of the statements alone. */
export function migrationOf(name: string, text: string): Migration {
  const checksum = createHash("sha256").update(withoutComments(text)).digest("hex");
  return { name, text, checksum };
}

function withoutComments(sql: string): string {
  return sql.replaceAll(QUOTED_OR_GAP, (_, quoted: string | undefined) => quoted ?? " ").trim();
}

const QUOTED_OR_GAP =
  /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)|(?:--[^\n]*|\/\*[\s\S]*?\*\/|\s)+/gs;

/** The migrations to apply. Throws a message for the operator if the database does not fit this program. */
export function missingMigrations(known: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const { name, checksum } of applied) {
    const migration = byName.get(name);
    if (migration === undefined) {
      throw new Error(`the database is newer than this program: it has the unknown migration ${name}`);
    }
    if (migration.checksum !== checksum) {
      throw new Error(`migration ${name} was applied with content that differs from this program's`);
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  return known.filter(({ name }) => !done.has(name));
}
