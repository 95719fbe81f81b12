import { NEW_HOSTS_MAX } from "../../../../ingest/collect/sites.js";
import { Problem } from "../../../../schemas/problem.js";
import { type Account, reaches } from "../../../base/access/access.js";
import { type Postgres, query, utc } from "../../../base/postgres/query.js";

/**
 * Serialises claims of this host until the transaction ends. Call it before any other lock: a transaction that holds an
 * owner and waits for a host could deadlock with one that holds the host. Releasing a host needs no lock: it is in use
 * until the commit.
 */
export async function lockPublicHost(client: Postgres, host: string | undefined): Promise<void> {
  if (host === undefined) return;
  await query(client, "select pg_advisory_xact_lock(hashtextextended('public host ' || $1, 0))", [host]);
}

interface Claim {
  host: string | undefined;
  ownerId: string;
  account: Account;
}

/**
 * Valid while the host is locked; 30 days after its last use, or at once for who administers both owners. Throws
 * `domain-is-already-in-use`, naming no owner.
 */
export async function requireFreeHost(client: Postgres, { host, ownerId, account }: Claim): Promise<void> {
  if (host === undefined) return;
  const text = `
    select from packages where public_host = $1 and owner_id <> $2
    union all
    select from package_domains d join packages p on p.id = d.package_id where d.name = $1 and p.owner_id <> $2
    limit 1`;
  const users = await query(client, text, [host, ownerId]);
  if (users.length > 0) throw hostInUse(host);
  const held = await readHold(client, { host, ownerId, account });
  if (held === undefined) return;
  if (!held.administersBoth || !reaches(account.limited, held.holderId))
    throw new Problem(
      "domain-is-already-in-use",
      `The domain ${host} was removed by another owner and is reserved for them until ${held.until}.`,
    );
  await query(client, "delete from held_hosts where host = $1", [host]);
}

/** Who holds a host that is not this owner's. */
async function readHold(client: Postgres, { host, ownerId, account }: Claim) {
  const text = `
    select h.owner_id as "holderId", ${utc("h.held_until")} as until, not exists (
        select from unnest(array[h.owner_id, $2::uuid]) as o (id) where o.id <> $3 and not exists (
          select from memberships m
          where m.organization_id = o.id and m.account_id = $3 and m.role in ('admin', 'owner'))
      ) as "administersBoth"
    from held_hosts h where h.host = $1 and h.owner_id <> $2 and h.held_until > now()`;
  const [held] = await query<{ holderId: string; until: string; administersBoth: boolean }>(client, text, [
    host,
    ownerId,
    account.id,
  ]);
  return held;
}

/** The host of live collection's own requests, if it has one; see `COLLECT_HOST`. */
export type CollectHost = string | undefined;

/** Checks that images are not to be at the host of pixels and npm reports. Throws `domain-is-already-in-use`. */
export function requireNoCollectHost(host: string | undefined, collectHost: CollectHost): void {
  if (host !== undefined && host === collectHost) throw collectionHost(host);
}

/**
 * A domain would take them from the collection; images do not, below /v2/. While there were too many new hosts to note,
 * today or yesterday, any host may be one: then only hosts that are served once they are verified can be claimed.
 * Throws `domain-is-already-in-use`.
 */
export async function requireNoCollectionHost(
  client: Postgres,
  { host, collectHost, isVerified }: { host: string; collectHost: CollectHost; isVerified: boolean },
): Promise<void> {
  requireNoCollectHost(host, collectHost);
  const text = "select from collection_hosts where host = $1 and answered_on > current_date - 30";
  if ((await query(client, text, [host])).length > 0) throw collectionHost(host);
  if (isVerified || collectHost !== undefined) return;
  const full = `
    select from collection_hosts where noted_on >= current_date - 1
    group by noted_on having count(*) >= $1`;
  if ((await query(client, full, [NEW_HOSTS_MAX])).length === 0) return;
  throw new Problem(
    "domain-is-already-in-use",
    `The collector received requests for too many new hosts and cannot tell whether ${host} is one of ` +
      "its own. Try again in two days, or ask the operator to set COLLECT_HOST or DOMAIN_VERIFICATION.",
  );
}

function collectionHost(host: string): Problem {
  return new Problem(
    "domain-is-already-in-use",
    `The collector receives page views and npm reports on the domain ${host}. Use another domain for the ` +
      "package.",
  );
}

/** Notes that pixels or npm reports are answered at this host, unless it is new and too many are. */
export async function noteCollectionHost(pg: Postgres, host: string): Promise<void> {
  const text = `
    insert into collection_hosts (host, answered_on) select $1, current_date
    where exists (select from collection_hosts where host = $1)
      or (select count(*) from collection_hosts where noted_on = current_date) < $2
    on conflict (host) do update set answered_on = excluded.answered_on where collection_hosts.answered_on < excluded.answered_on`;
  await query(pg, text, [host, NEW_HOSTS_MAX]);
}

/** Noted on any day, the longest known first. */
export async function readCollectionHosts(pg: Postgres): Promise<ReadonlySet<string>> {
  const text = "select host from collection_hosts order by noted_on limit $1";
  const rows = await query<{ host: string }>(pg, text, [KNOWN_HOSTS_MAX]);
  return new Set(rows.map(({ host }) => host));
}

/** Those of 30 days. */
const KNOWN_HOSTS_MAX = 30 * NEW_HOSTS_MAX;

/** Forgets hosts that are not held any more, and those of the collection after 30 days. Answers how many. */
export async function deleteEndedHosts(pg: Postgres): Promise<number> {
  const held = await query(pg, "delete from held_hosts where held_until < now() returning host");
  const own = await query(
    pg,
    "delete from collection_hosts where answered_on <= current_date - 30 returning host",
  );
  return held.length + own.length;
}

export function hostInUse(host: string, options?: { cause: unknown }): Problem {
  return new Problem("domain-is-already-in-use", `The domain ${host} is already in use.`, options);
}

/** As in `Host` headers and domains: ASCII, lower case, no port, no trailing dot. Undefined without a host. */
export function publicHostOf(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/\.$/, "") || undefined;
}
