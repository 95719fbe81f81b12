import { type Postgres, query } from "./query.js";

/** Throws for the operator if a known fingerprint differs: tokens would be invalid, and client ids would change. */
export async function checkSecretKey(pg: Postgres, { fingerprint }: { fingerprint: Buffer }): Promise<void> {
  const text = `
    with made as (
      insert into secret_key_fingerprint (fingerprint) values ($1) on conflict do nothing returning fingerprint
    )
    select fingerprint from made union all select fingerprint from secret_key_fingerprint`;
  const [row] = await query<{ fingerprint: Buffer }>(pg, text, [fingerprint]);
  if (row?.fingerprint.equals(fingerprint)) return;
  throw new Error("SECRET_KEY is not the key that this database was created with. Set the original key.");
}
