import type { LookupFunction } from "node:net";

/** Decides which addresses upstreams may have, whose URLs package owners set; see `AddressGuard` of `api/outbound`. */
export interface UpstreamGuard {
  /** Why a URL is not allowed, without looking up its name. */
  faultOf(url: string): string | undefined;
  /** Fails when a name resolves to an address that is not allowed. */
  lookup: LookupFunction;
}

/** An upstream whose address is not allowed, or whose answer cannot be used. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
}
