import { pino } from "pino";
import { expect, test } from "vitest";
import { openImportLog } from "../../../../aggregate/queries/open-import-log.js";
import { listDeadLetters } from "../../../../api/imports/dead-letters.js";
import { migratePostgres, readMigrations } from "../../../../api/postgres/migrate-postgres.js";
import { connectPostgres } from "../../../../deploy/stores/postgres/connect-postgres.js";
import { deleteDeadLetterEntries } from "../../../../enrich/batches/chunk-rows.js";
import { openTestClickHouse } from "../../../support/stores/open-clickhouse.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { makeEmptyDatabase } from "../../../support/stores/prepared-stores.js";

const OWNER = "01990000-0000-7000-8000-000000000001";
const IMPORT = "01990000-0000-7000-8000-000000000002";
/** The first migration that speaks of dead letters. */
const RENAMED = 18;

const EARLIER_ROWS = `
  insert into owners (id, kind, name) values ('${OWNER}', 'user', 'ada');
  insert into accounts (id, email, token_hash, token_ciphertext) values ('${OWNER}', 'ada@example.org', '\\x01', '\\x01');
  insert into imports (id, owner_id, account_id, artifact_kind, upload_lease) values ('${IMPORT}', '${OWNER}', '${OWNER}', 'any', now());
  insert into import_chunks (import_id, sequence, receipt_stamp, events, errors, set_aside) values
    ('${IMPORT}', 0, 1, 0, '[{"class":"error","type":"chunk-set-aside","line":1}]', 7),
    ('${IMPORT}', 1, 2, 5, '[{"class":"error","type":"missing-time","line":8}]', null);
  insert into parked_chunks (place, partition, "offset", import_id, sequence, first_line, lines, record, reason, tries, ended_at) values
    ('log:events.raw:0:5', 0, 5, '${IMPORT}', 0, 1, 7, 'record', 'a fault', 3, null),
    ('log:events.raw:0:6', 0, 6, null, 0, 1, 2, null, 'no chunk', 3, now());
  insert into audit_entries (id, owner_id, action, target_kind, target_id, target_name) values
    ('01990000-0000-7000-8000-000000000003', '${OWNER}', 'parked.retry', 'import', '${IMPORT}', 'chunk 1'),
    ('01990000-0000-7000-8000-000000000004', '${OWNER}', 'packages.create', 'package', 'id', 'parked.car');`;

test("chunks that an earlier release parked are dead letters after the upgrade, and their import counts them as before", async () => {
  await using database = await makeEmptyDatabase();
  await onPostgres(database.url, async (client) => {
    await client.query(
      "create table schema_migrations (number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())",
    );
    for (const { number, name, text: statements, checksum } of await readMigrations()) {
      if (number >= RENAMED) continue;
      await client.query(statements);
      await client.query("insert into schema_migrations values ($1, $2, $3)", [number, name, checksum]);
    }
    await client.query(EARLIER_ROWS);
  });

  const pool = connectPostgres({ url: database.url, connectionsMax: 1, log: pino({ level: "silent" }) });
  await migratePostgres(pool);
  const waiting = await listDeadLetters(pool);
  expect(waiting).toEqual([
    expect.objectContaining({ importId: IMPORT, owner: "ada", firstLine: 1, lines: 7, bytes: 6, tries: 3 }),
  ]);
  const rows = async (query: string) => (await pool.query<Record<string, unknown>>(query)).rows;
  const chunks = await rows(
    "select dead_letter_lines as lines, errors->0->>'type' as type from import_chunks order by sequence",
  );
  expect(chunks).toEqual([
    { lines: 7, type: "dead-letter" },
    { lines: null, type: "missing-time" },
  ]);
  const ended = await rows("select log_position as position from dead_letters where ended_at is not null");
  expect(ended).toEqual([{ position: "log:events.raw:0:6" }]);
  const actions = await rows("select action, target_name as name from audit_entries order by id");
  expect(actions).toEqual([
    { action: "dead-letters.retry", name: "chunk 1" },
    { action: "packages.create", name: "parked.car" },
  ]);
  await pool.end();
});

test("a log entry of a chunk that an earlier release parked is read as a dead letter's, and goes when the chunk is imported", async () => {
  await using clickhouse = await openTestClickHouse();
  await clickhouse.client.command({
    query: `INSERT INTO import_log (import_id, line, class, type, message, logged) VALUES
      ('${IMPORT}', 1, 'error', 'chunk-set-aside', 'a fault', today()), ('${IMPORT}', 8, 'error', 'missing-time', 'no time', today())`,
  });
  const types = async () => {
    const signal = new AbortController().signal;
    const rows = await openImportLog(clickhouse.client, { importId: IMPORT, what: "import-log", signal });
    let read = "";
    for await (const part of rows) read += part.toString();
    return read
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
  };
  expect(await types()).toEqual(["dead-letter", "missing-time"]);
  await deleteDeadLetterEntries(clickhouse.shards, [{ importId: IMPORT, line: 1 }]);
  expect(await types()).toEqual(["missing-time"]);
});
