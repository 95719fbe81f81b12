import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { addressFault, hostOf, isAddress, urlFault, type AddressRules } from "./guard-address.js";

/** Every address that a name has. Rejects where there is none or nobody knows. */
export type ResolveName = (name: string) => Promise<LookupAddress[]>;

/** The one guard of requests that others ask the service to send: at creation, and whenever one is sent. */
export interface AddressGuard {
  /** The fault of a URL by itself; see `urlFault`. Call it before each request: an address literal is not looked up. */
  faultOf(url: string): string | undefined;
  /** As `faultOf`, and with whatever its name resolves to now; a name that nobody knows may be known later. */
  faultNow(url: string): Promise<string | undefined>;
  /**
   * For `http.request` and `net.connect`: answers the addresses of a name, or fails with `AddressNotAllowed` when any
   * of them is not to be connected to. The connection goes to what was checked; the name is not resolved again.
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

/** Without the address: who asks may not be meant to know what a name leads to in here. */
function nameFault(name: string): string {
  return `must not lead to ${name}, of which an address is none of the public internet`;
}
