import { assetUrl } from "../../schemas/asset.js";
import { migrationOf, readMigrationFiles, sha256, type Migration } from "../../schemas/migrations.js";

/**
 * The files of this folder, in the order of their numbers. Their checksums cover the statements as the files spell
 * them, with the names of `TABLE_CLAUSES`, so that comments, white space and engines may change.
 */
export async function readMigrations(): Promise<Migration[]> {
  const files = await readMigrationFiles(assetUrl("aggregate/clickhouse/"));
  return files.map(({ name, text }) => clickhouseMigration(name, text));
}

export function clickhouseMigration(name: string, text: string): Migration {
  return migrationOf(name, text, sha256(withoutComments(text)));
}

/** Keeps literals and quoted names as they are; a run of comments and white space elsewhere becomes one space. */
function withoutComments(sql: string): string {
  return sql.replaceAll(QUOTED_OR_GAP, (_, quoted: string | undefined) => quoted ?? " ").trim();
}

const QUOTED_OR_GAP =
  /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)|(?:--[^\n]*|\/\*[\s\S]*?\*\/|\s)+/gs;
