import { Problem } from "../../../schemas/problem.js";
import { query, type Postgres } from "../query.js";

/**
 * Lets the transaction wait until no other claims this host, and keeps such others waiting until it ends. Call it
 * before anything else is locked: who has an owner and waits for a host would be waited for by who has the host.
 * Giving a host up needs no lock: until that is committed the host is in use.
 */
export async function lockPublicHost(client: Postgres, host: string | undefined): Promise<void> {
  if (host === undefined) return;
  await query(client, "select pg_advisory_xact_lock(hashtextextended('public host ' || $1, 0))", [host]);
}

/**
 * A host, of docker packages or as a domain, is the owner's who uses it. Throws `domain-is-already-in-use`, without a
 * word on whose it is. What it says stays true while the host is locked.
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
