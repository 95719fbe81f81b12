import { query, type Postgres } from "../postgres/query.js";

/** A host as its owner's, and what shows that it is. */
export interface HostState {
  host: string;
  ownerId: string;
  /** The value of the owner's record in the DNS. */
  token: string;
  verified: boolean;
}

/** The states of these hosts, whether or not a package of the owner uses them. In any order. */
export async function readHostStates(
  pg: Postgres,
  { ownerId, hosts }: { ownerId: string; hosts: readonly string[] },
): Promise<HostState[]> {
  const text = `
    select h.host, o.id as "ownerId", o.host_token as token, v.host is not null as verified
    from owners o cross join unnest($2::text[]) as h (host)
    left join verified_hosts v on v.owner_id = o.id and v.host = h.host
    where o.id = $1`;
  return query<HostState>(pg, text, [ownerId, hosts]);
}

/** Some of the hosts that packages use and whose owners have not shown yet that they are theirs. */
export async function readUnverifiedHosts(pg: Postgres, hostsMax: number): Promise<HostState[]> {
  const text = `
    with used as (
      select d.name as host, p.owner_id from package_domains d join packages p on p.id = d.package_id
      union select public_host, owner_id from packages where public_host is not null
    )
    select u.host, o.id as "ownerId", o.host_token as token, false as verified
    from used u join owners o on o.id = u.owner_id
    where not exists (select from verified_hosts v where v.host = u.host and v.owner_id = u.owner_id)
    order by random() limit $1`;
  return query<HostState>(pg, text, [hostsMax]);
}

export async function insertVerifiedHost(
  pg: Postgres,
  { host, ownerId }: Pick<HostState, "host" | "ownerId">,
): Promise<void> {
  await query(pg, "insert into verified_hosts (host, owner_id) values ($1, $2) on conflict do nothing", [
    host,
    ownerId,
  ]);
}
