import { Problem } from "../../../schemas/problem.js";
import { query, type Postgres } from "../query.js";

/**
 * Serialises claims of this host until the transaction ends. Call it before any other lock: a transaction that holds an
 * owner and waits for a host could deadlock with one that holds the host. Releasing a host needs no lock: it is in use
 * until the commit.
 */
export async function lockPublicHost(client: Postgres, host: string | undefined): Promise<void> {
  if (host === undefined) return;
  await query(client, "select pg_advisory_xact_lock(hashtextextended('public host ' || $1, 0))", [host]);
}

/**
 * Checks that no other owner uses the host, in docker packages or as a domain. Throws `domain-is-already-in-use`,
 * without naming the owner. The result is valid while the host is locked.
 */
export async function requireFreeHost(
  client: Postgres,
  { host, ownerId }: { host: string | undefined; ownerId: string },
): Promise<void> {
  if (host === undefined) return;
  const text = `
    select from packages where public_host = $1 and owner_id <> $2
    union all
    select from package_domains d join packages p on p.id = d.package_id where d.name = $1 and p.owner_id <> $2
    limit 1`;
  const users = await query(client, text, [host, ownerId]);
  if (users.length > 0) throw hostInUse(host);
}

export function hostInUse(host: string, options?: { cause: unknown }): Problem {
  return new Problem("domain-is-already-in-use", `The domain ${host} is already in use.`, options);
}
