import { limitConcurrency } from "../../../../schemas/async/limit-concurrency.js";
import {
  type HostVerification,
  type PackageDomainV1,
  verificationName,
} from "../../../../schemas/contracts/package-routing.js";
import { Problem } from "../../../../schemas/problem.js";
import { FailureLimit } from "../../../base/identity/failure-limits.js";
import { type Postgres, query } from "../../../base/postgres/query.js";

/** The texts of a name's TXT records, none if it has none. Rejects if the DNS gives no answer. */
export type ResolveTxt = (name: string) => Promise<string[]>;

/** Shows whether hosts are their owners'; absent where the service does not ask for that. */
export interface HostChecks {
  describe(
    pg: Postgres,
    owned: { ownerId: string; hosts: readonly string[] },
  ): Promise<Map<string, HostVerification>>;
  /** Whether the record is there now and was not before. Throws `rate-limited` for the owner, and `unavailable`. */
  look(pg: Postgres, owned: { ownerId: string; host: string }): Promise<boolean>;
}

/** In a minute and for one owner. */
const LOOKS_MAX = 30;
const AT_ONCE = { perKey: 2, inAll: 8 };
const TIME_MS_MAX = 15_000;

export function createHostChecks(resolveTxt: ResolveTxt): HostChecks {
  const limit = new FailureLimit(LOOKS_MAX);
  const take = limitConcurrency(AT_ONCE);
  return {
    async describe(pg, owned) {
      const states = await readHostStates(pg, owned);
      return new Map(states.map((state) => [state.host, describeState(state)]));
    },
    async look(pg, { ownerId, host }) {
      const [state] = await readHostStates(pg, { ownerId, hosts: [host] });
      if (state === undefined || state.verified) return false;
      const retryAfterSeconds = await limit.countAttempt(ownerId);
      if (retryAfterSeconds > 0)
        throw new Problem("rate-limited", "Too many DNS lookups for your account. Try again later.", {
          retryAfterSeconds,
        });
      using _permit = await take([ownerId], AbortSignal.timeout(TIME_MS_MAX));
      return await lookAt(state, resolveTxt);
    },
  };
}

/** Whether the record of a host is there. Throws `unavailable` where the DNS gives no answer. */
async function lookAt(state: HostState, resolveTxt: ResolveTxt): Promise<boolean> {
  const texts = await resolveTxt(verificationName(state.host)).catch((cause: unknown) => {
    throw new Problem(
      "unavailable",
      `The DNS lookup of ${verificationName(state.host)} got no response. Try again later.`,
      {
        retryAfterSeconds: 60,
        cause,
      },
    );
  });
  return texts.some((text) => text.trim() === state.token);
}

function describeState({ host, token, verified }: HostState): HostVerification {
  return { verified, verification: { type: "TXT", name: verificationName(host), value: token } };
}

/** The records of an owner's domains, with how far they are verified where they have to be. */
export async function withVerification(
  checks: HostChecks | undefined,
  pg: Postgres,
  ownerId: string,
  domains: readonly PackageDomainV1[],
): Promise<PackageDomainV1[]> {
  if (checks === undefined) return [...domains];
  const described = await checks.describe(pg, { ownerId, hosts: domains.map(({ name }) => name) });
  return domains.map((domain) => ({ ...domain, ...described.get(domain.name) }));
}

interface HostState {
  host: string;
  ownerId: string;
  /** The value of the owner's record in the DNS. */
  token: string;
  verified: boolean;
}

/** Whether or not a package of the owner uses them. In any order. */
async function readHostStates(
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

/**
 * Some of the hosts that packages use and whose owners have not shown yet that they are theirs: one of each account and the
 * organizations that it made, then another one of each, so that nobody's thousands keep others' from being looked at.
 */
async function readUnverifiedHosts(pg: Postgres, hostsMax: number): Promise<HostState[]> {
  const text = `
    with used as (
      select d.name as host, p.owner_id from package_domains d join packages p on p.id = d.package_id
      union select public_host, owner_id from packages where public_host is not null
    )
    select u.host, o.id as "ownerId", o.host_token as token, false as verified
    from used u join owners o on o.id = u.owner_id left join organizations made on made.id = o.id
    where not exists (select from verified_hosts v where v.host = u.host and v.owner_id = u.owner_id)
    order by row_number() over (partition by coalesce(made.made_by, o.id) order by random()), random() limit $1`;
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

/** A run has ten minutes; a look that times out takes seconds. */
const HOSTS_MAX = 500;
const LOOKS_AT_ONCE = 8;

/** A host for which the DNS gives no answer is looked at again in the next run. */
export async function lookAtHosts(
  pg: Postgres,
  { resolveTxt, signal }: { resolveTxt: ResolveTxt; signal: AbortSignal },
): Promise<{ looked: number; verified: number; unanswered: number }> {
  const waiting = await readUnverifiedHosts(pg, HOSTS_MAX);
  const counts = { looked: waiting.length, verified: 0, unanswered: 0 };
  const lookOn = async () => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const isThere = await lookAt(next, resolveTxt).catch(() => undefined);
      if (isThere === undefined) counts.unanswered += 1;
      if (isThere !== true) continue;
      await insertVerifiedHost(pg, next);
      counts.verified += 1;
    }
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lookOn));
  return counts;
}
