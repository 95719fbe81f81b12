import { EventEmitter } from "node:events";
import type { Pool } from "pg";
import { expect, test } from "vitest";
import { asOnlyMigration } from "../../../../../api/base/postgres/migrate-postgres.js";

/** A pool of one connection, whose server can end its session. */
function openPool() {
  const state: { ended: boolean; released: unknown } = { ended: false, released: undefined };
  const client = Object.assign(new EventEmitter(), state, {
    query: async () => {
      if (client.ended) throw new Error("Client has encountered a connection error and is not queryable");
      return { rows: [] };
    },
    release: (destroy: boolean) => (client.released = destroy),
  });
  const endSession = () => {
    client.ended = true;
    client.emit("error", new Error("terminating connection due to administrator command"));
  };
  return { client, endSession, pool: { connect: async () => client } as unknown as Pool };
}

test("a session that ends during the work stops it before the next statement, and not the process", async () => {
  const { client, endSession, pool } = openPool();
  const statements: string[] = [];
  const migrated = asOnlyMigration(pool, async ({ check }) => {
    await check();
    statements.push("first");
    endSession();
    await check();
    statements.push("second");
  });
  await expect(migrated).rejects.toThrow("the PostgreSQL session that holds the migration lock ended");
  expect(statements).toEqual(["first"]);
  expect(client.released).toBe(true);
});

test("the connection is closed after the work, which releases the lock", async () => {
  const { client, pool } = openPool();
  await asOnlyMigration(pool, ({ check }) => check());
  expect(client.released).toBe(true);
});
