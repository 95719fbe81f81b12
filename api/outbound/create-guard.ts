import { promises as dns, type LookupAddress } from "node:dns";
import type { AddressRules } from "./guard-address.js";
import { createAddressGuard, type AddressGuard, type ResolveName } from "./guarded-lookup.js";

/** The guard for all requests that users make the service send. */
export function createGuard(rules: AddressRules): AddressGuard {
  return createAddressGuard(rules, rules.allowPrivateNetworks ? resolveAnyName : resolveName);
}

const NAME_SERVER_MS = 2_000;

/**
 * Queries the name servers directly. The system's lookup shares few threads of this process, and a name whose servers
 * do not answer would block them for all users.
 */
const resolveName: ResolveName = async (name) => {
  const resolver = new dns.Resolver({ timeout: NAME_SERVER_MS, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer, index): LookupAddress[] =>
    answer.status === "rejected"
      ? []
      : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
  );
  const [first] = answers;
  if (addresses.length > 0) return addresses;
  throw first.status === "rejected" ? first.reason : new Error(`${name} has no address`);
};

/**
 * On a closed network, also uses the hosts files and search domains of the system. Its users are trusted not to block
 * the threads.
 */
const resolveAnyName: ResolveName = (name) =>
  resolveName(name).catch(() => dns.lookup(name, { all: true, verbatim: true }));
