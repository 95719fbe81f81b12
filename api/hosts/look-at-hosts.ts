import type { Postgres } from "../postgres/query.js";
import { insertVerifiedHost, readUnverifiedHosts } from "./verified-hosts.js";
import { lookAt, type ResolveTxt } from "./host-checks.js";

/** A run has ten minutes; a look that times out takes seconds. */
const HOSTS_MAX = 500;
const AT_ONCE = 8;

/**
 * Looks for the records of hosts that are not verified, of some where there are many. A host that the DNS gives no answer
 * for is looked at again in the next run.
 */
export async function lookAtHosts(
  pg: Postgres,
  { resolveTxt, signal }: { resolveTxt: ResolveTxt; signal: AbortSignal },
): Promise<{ looked: number; verified: number; unanswered: number }> {
  const waiting = await readUnverifiedHosts(pg, HOSTS_MAX);
  const counts = { looked: waiting.length, verified: 0, unanswered: 0 };
  const lookOn = async () => {
    for (let next = waiting.pop(); next !== undefined && !signal.aborted; next = waiting.pop()) {
      const isThere = await lookAt(next, resolveTxt).catch(() => undefined);
      if (isThere === undefined) counts.unanswered += 1;
      if (isThere !== true) continue;
      await insertVerifiedHost(pg, next);
      counts.verified += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lookOn));
  return counts;
}
