import { query, type Postgres } from "./query.js";

/**
 * Lets the transaction wait until no other changes this package, or who may do what with what belongs to its owner,
 * and keeps such others waiting until it ends. The owner comes first, so that none waits for each other for good;
 * changes of other packages of that owner go on.
 */
export async function lockPackage(client: Postgres, id: string): Promise<void> {
  const owner = "select owner_id from packages where id = $1";
  await query(client, `select from owners where id = (${owner}) for share`, [id]);
  await query(client, "select from packages where id = $1 for update", [id]);
}
