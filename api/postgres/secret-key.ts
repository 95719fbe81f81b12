import { query, type Postgres } from "./query.js";

/**
 * Stores the secret key's fingerprint in a new database and compares it in an existing one. Throws a message for the
 * operator if they differ: every token would be invalid, and client ids would change.
 */
export async function checkSecretKey(pg: Postgres, { fingerprint }: { fingerprint: Buffer }): Promise<void> {
  const text = `
    with made as (
      insert into secret_key_fingerprint (fingerprint) values ($1) on conflict do nothing returning fingerprint
    )
    select fingerprint from made union all select fingerprint from secret_key_fingerprint`;
  const [row] = await query<{ fingerprint: Buffer }>(pg, text, [fingerprint]);
  if (row?.fingerprint.equals(fingerprint)) return;
  throw new Error(
    "SECRET_KEY is not the one that this database was made with; give the one it was made with.",
  );
}
