import { query, type Postgres } from "./query.js";

/**
 * Lets the transaction wait until no other changes this package, what belongs to it, or who stands how to its owner,
 * and keeps others waiting until it ends. The owner comes first, as everywhere: two transactions that lock in
 * different orders would wait for each other. Whatever the change depends on is to be read after this.
 */
export async function lockPackage(client: Postgres, id: string): Promise<void> {
  const owner = `select from owners where id = (select owner_id from packages where id = $1) for update`;
  await query(client, owner, [id]);
  await query(client, `select from packages where id = $1 for update`, [id]);
}
