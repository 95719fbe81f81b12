import type { InsertLock } from "../../../schemas/records/settlement.js";
import { transactionOn } from "./connection.js";
import { type Postgres, query } from "./query.js";
import { readRemovedBefore } from "./removed-events.js";

/**
 * Locks of the connection that is given: a work that throws leaves its lock, so the connection must be closed then. What
 * waits for the lock of a recount lets no insert begin; it gives up before a process that stands still stops all the others.
 */
export function insertLock(connection: Postgres): InsertLock {
  return {
    async whileInserting(work) {
      await query(connection, `select pg_advisory_lock_shared(${KEY})`);
      const result = await work();
      await query(connection, `select pg_advisory_unlock_shared(${KEY})`);
      return result;
    },
    async whileRecounting(work) {
      await transactionOn(connection, async () => {
        await query(connection, "set local lock_timeout = '10s'");
        await query(connection, `select pg_advisory_lock(${KEY})`);
      });
      await query(connection, "select nextval('recounts')");
      const result = await work(await readRemovedBefore(connection));
      await query(connection, `select pg_advisory_unlock(${KEY})`);
      return result;
    },
    async whileNumbering(work) {
      await query(connection, `select pg_advisory_lock(${NUMBERS})`);
      const result = await work();
      await query(connection, `select pg_advisory_unlock(${NUMBERS})`);
      return result;
    },
  };
}

const KEY = "hashtextextended('inserts of events', 0)";
const NUMBERS = "hashtextextended('numbers of addresses', 0)";

/** A text that is another one after each recount that began. */
export async function latestRecount(pg: Postgres): Promise<string> {
  const text = "select last_value || is_called::text as latest from recounts";
  const [row] = await query<{ latest: string }>(pg, text);
  return row?.latest ?? "";
}
