import { type LookupAddress, promises as dns } from "node:dns";
import type { LookupFunction } from "node:net";
import { addressFault, hostOf, isAddress, urlFault, type AddressRules } from "./guard-address.js";

/** All addresses of a name. Rejects if there are none or the lookup fails. */
export type ResolveName = (name: string) => Promise<LookupAddress[]>;

/** The guard of requests that users make the service send. It checks a URL when it is stored and at each request. */
export interface AddressGuard {
  /**
   * The fault of a URL by itself; see `urlFault`. Call it before each request, because an address literal is not looked
   * up.
   */
  faultOf(url: string): string | undefined;
  /** As `faultOf`, also for the current addresses of its name. An unknown name is no fault: it may exist later. */
  faultNow(url: string): Promise<string | undefined>;
  /**
   * For `http.request` and `net.connect`: answers the addresses of a name, or fails with `AddressNotAllowed` if any of
   * them is not allowed. The connection uses the checked addresses without another lookup.
   */
  lookup: LookupFunction;
}

export class AddressNotAllowed extends Error {}

export function createAddressGuard(rules: AddressRules, resolve: ResolveName): AddressGuard {
  const isRefused = ({ address }: LookupAddress) => addressFault(address, rules) !== undefined;
  const checked = async (name: string) => {
    const addresses = await resolve(name);
    if (addresses.some(isRefused)) throw new AddressNotAllowed(`The URL ${nameFault(name)}.`);
    return addresses;
  };
  return {
    faultOf: (url) => urlFault(url, rules),
    async faultNow(url) {
      const fault = urlFault(url, rules);
      const host = fault === undefined ? hostOf(new URL(url)) : "";
      if (fault !== undefined || isAddress(host)) return fault;
      const addresses = await resolve(host).catch(() => []);
      return addresses.some(isRefused) ? nameFault(host) : undefined;
    },
    lookup(name, { all }, callback) {
      checked(name).then(
        (addresses) => {
          const [{ address, family } = { address: "", family: 0 }] = addresses;
          if (all === true) callback(null, addresses);
          else callback(null, address, family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ""),
      );
    },
  };
}

/** Omits the address: the caller may not be allowed to know internal addresses. */
function nameFault(name: string): string {
  return `must not lead to ${name}, which has an address outside the public internet`;
}

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
