import { Problem } from "../../../schemas/problem.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import type { Pool } from "pg";
import { OPERATOR } from "../../../schemas/contracts/audit-entry.js";
import { insertAuditEntry } from "../../base/access/audit-entries.js";
import { readOwnerNamed } from "../../base/access/owners.js";
import { inTransaction } from "../../base/postgres/connection.js";

/** Until the transaction ends. Call it before any other lock but `lockPublicHost`. */
export async function lockNpmName(client: Postgres, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  await query(client, "select pg_advisory_xact_lock(hashtextextended('npm name ' || $1, 0))", [name]);
}

/** Unless another owner has it or got it assigned. Valid while locked. Throws `already-exists`, naming no owner. */
export async function requireFreeNpmName(
  client: Postgres,
  { name, ownerId }: { name: string; ownerId: string },
): Promise<void> {
  const text = `
    select coalesce(
      (select owner_id <> $2 from npm_names where name = $1),
      exists (select from packages where library_type = 'npm' and name = $1 and owner_id <> $2)
    ) as taken`;
  const [row] = await query<{ taken: boolean }>(client, text, [name, ownerId]);
  if (row?.taken !== true) return;
  throw new Problem(
    "already-exists",
    `The npm package ${name} belongs to another owner. The operator of this service can reassign the name.`,
  );
}

/** From now on reports of that name count for this owner's package alone. */
async function upsertNpmName(
  client: Postgres,
  { name, ownerId }: { name: string; ownerId: string },
): Promise<void> {
  const text = `
    insert into npm_names (name, owner_id) values ($1, $2)
    on conflict (name) do update set owner_id = excluded.owner_id`;
  await query(client, text, [name, ownerId]);
}

/** The owners that reports of the name counted for before: of the assignment, else of the oldest package. */
async function readNpmNameOwner(
  client: Postgres,
  name: string,
): Promise<{ id: string; name: string } | undefined> {
  const text = `
    select o.id, o.name from owners o where o.id = coalesce(
      (select owner_id from npm_names where name = $1),
      (select owner_id from packages where library_type = 'npm' and name = $1 order by id limit 1)
    )`;
  const [row] = await query<{ id: string; name: string }>(client, text, [name]);
  return row;
}

/** For the operator; in the audit logs of both owners. Throws if there is no owner of that name. */
export async function assignNpmName(
  pg: Pool,
  { name, owner }: { name: string; owner: string },
): Promise<void> {
  await inTransaction(pg, async (client) => {
    await lockNpmName(client, name);
    const to = await readOwnerNamed(client, owner);
    if (to === undefined) throw new Error(`The user or organization ${owner} does not exist.`);
    const from = await readNpmNameOwner(client, name);
    await upsertNpmName(client, { name, ownerId: to.id });
    const owners = from === undefined || from.id === to.id ? [to] : [to, from];
    for (const { id } of owners)
      await insertAuditEntry(client, {
        ownerId: id,
        by: OPERATOR,
        action: "npm-name.assign",
        target: { kind: "npm-name", id: name, name },
        changes: { owner: to.name },
      });
  });
}
