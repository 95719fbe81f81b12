import { promises as dns, type LookupAddress } from "node:dns";
import type { AddressRules } from "./guard-address.js";
import { createAddressGuard, type AddressGuard, type ResolveName } from "./guarded-lookup.js";

/** For every request that others ask the service to send. */
export function createGuard(rules: AddressRules): AddressGuard {
  return createAddressGuard(rules, rules.allowPrivateNetworks ? resolveAnyName : resolveName);
}

const NAME_SERVER_MS = 2_000;

/**
 * Asks the name servers themselves: the system's own look-up has few threads for the whole process, which a name whose
 * servers do not answer would take from everybody else.
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

/** On a closed network also by its hosts files and search domains; those who ask are trusted with its threads. */
const resolveAnyName: ResolveName = (name) =>
  resolveName(name).catch(() => dns.lookup(name, { all: true, verbatim: true }));
