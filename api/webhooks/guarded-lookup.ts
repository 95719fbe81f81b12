import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { addressFault, hostOf, isAddress, urlFault, type AddressRules } from "./guard-address.js";

/** Every address that a name has. Rejects where there is none or nobody knows. */
export type ResolveName = (name: string) => Promise<LookupAddress[]>;

/** The one guard of requests that others ask the service to send: at creation, and whenever one is sent. */
export interface AddressGuard {
  /** What is wrong with a URL by itself; see `urlFault`. Ask it before each request: an address is not looked up. */
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
  const checked = async (name: string) => {
    const addresses = await resolve(name);
    const faults = addresses.flatMap(({ address }) => addressFault(address, rules) ?? []);
    if (faults[0] !== undefined) throw new AddressNotAllowed(`The URL ${faults[0]}.`);
    return addresses;
  };
  return {
    faultOf: (url) => urlFault(url, rules),
    async faultNow(url) {
      const fault = urlFault(url, rules);
      const host = fault === undefined ? hostOf(new URL(url)) : "";
      if (fault !== undefined || isAddress(host)) return fault;
      const addresses = await resolve(host).catch(() => []);
      return addresses.map(({ address }) => addressFault(address, rules)).find((each) => each !== undefined);
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
