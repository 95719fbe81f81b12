import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readMigrations as clickhouse } from "../../../aggregate/clickhouse/read-migrations.js";
import { readMigrations as postgres } from "../../../api/postgres/migrate-postgres.js";

const LIST = new URL("../../fixtures/migration-checksums.json", import.meta.url);

const SENTENCE =
  "An installation that has applied a migration refuses another text of it: leave its statements as they are, add a " +
  "file with a new number, and add the checksum of the new file to test/fixtures/migration-checksums.json";

test.each(Object.entries({ clickhouse, postgres }))(
  "the migrations of %s are those that installations have applied",
  async (database, readMigrations) => {
    const listed = JSON.parse(await readFile(LIST, "utf8")) as Record<string, Record<string, string>>;
    const files = (await readMigrations()).map(({ name, checksum }) => [name.slice(0, 3), checksum]);
    expect(Object.fromEntries(files), SENTENCE).toEqual(listed[database]);
  },
);
