import { LRUCache } from "lru-cache";
import { limitConcurrency } from "../../../../schemas/async/limit-concurrency.js";
import type { HostReach } from "../../../../schemas/contracts/package-routing.js";
import { type AddressGuard, AddressNotAllowed } from "../../../base/outbound/guard-address.js";
import { sendRequest } from "../../../base/outbound/send-request.js";

/** How far a host can be reached from here, as its clients reach it. Never rejects but with `unavailable`. */
export type ReachHost = (asked: { ownerId: string; host: string }) => Promise<HostReach>;

const KEPT_MS = 10_000;
const HOSTS_MAX = 1_000;
const TIMEOUT_MS = 3_000;
const AT_ONCE = { perKey: 4, inAll: 16 };

/** Looks at a host at most every ten seconds, whoever asks. */
export function createHostReach(guard: AddressGuard): ReachHost {
  const kept = new LRUCache<string, Promise<HostReach>>({ max: HOSTS_MAX, ttl: KEPT_MS });
  const take = limitConcurrency(AT_ONCE);
  const look = async (ownerId: string, host: string) => {
    using _permit = await take([ownerId], AbortSignal.timeout(TIMEOUT_MS));
    return await lookAt(host, guard);
  };
  return ({ ownerId, host }) => {
    const begun = kept.get(host) ?? look(ownerId, host);
    kept.set(host, begun, { ttl: kept.getRemainingTTL(host) || KEPT_MS });
    begun.catch(() => kept.delete(host));
    return begun;
  };
}

/** Any answer over TLS is one: the certificate was checked before it. */
async function lookAt(host: string, guard: AddressGuard): Promise<HostReach> {
  if (!(await hasAddress(host, guard)))
    return { host, dns: false, tls: false, fault: `${host} has no DNS address record yet.` };
  const sent = { url: `https://${host}/healthz`, headers: {}, body: Buffer.alloc(0) };
  const { status, error } = await sendRequest(sent, { guard, timeoutMs: TIMEOUT_MS });
  return { host, dns: true, tls: status !== null, ...(error !== undefined && { fault: error }) };
}

/** One that may not be asked is an address as well. */
function hasAddress(host: string, guard: AddressGuard): Promise<boolean> {
  return new Promise((resolve) => {
    guard.lookup(host, { all: true }, (error) =>
      resolve(error === null || error instanceof AddressNotAllowed),
    );
  });
}
