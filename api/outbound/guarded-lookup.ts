import type { LookupAddress } from "node:dns";
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
