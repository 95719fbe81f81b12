import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { EntryOf } from "./address-cache.js";
import { openHmac } from "./open-hmac.js";

/**
 * Keyed hashes in place of addresses: HMAC-SHA256 cut to 128 bits, as 16 bytes in a latin1 text. The key keeps an
 * attacker from trying all addresses. The two ids hash different prefixes, so they never match.
 * An event without an address has no id: "".
 */
export function openIds(key: Uint8Array, entryOf: EntryOf): Lookups["ids"] {
  const hash = openHmac(key, ID_BYTES);
  return {
    endpoint: (address) => {
      if (address === "") return "";
      return (entryOf(address).endpointId ??= hash(`endpoint\0${address}`));
    },
    origin: (address, userAgent) => {
      if (address === "") return "";
      const { origins } = entryOf(address);
      return (
        findOrigin(origins, userAgent) ??
        addOrigin(origins, userAgent, hash(`origin\0${address}\0${userAgent}`))
      );
    },
  };
}

const ID_BYTES = 16;

/** Most addresses have one or two user agents; those behind a gateway have any number. */
const ORIGINS_MAX = 4;
/** Longer user agents are hashed anew each time, which bounds the cache in bytes too. */
const CACHED_LENGTH_MAX = 512;

function findOrigin(origins: readonly string[], userAgent: string): string | undefined {
  for (let at = 0; at < origins.length; at += 2) {
    if (origins[at] === userAgent) return origins[at + 1];
  }
  return undefined;
}

function addOrigin(origins: string[], userAgent: string, id: string): string {
  if (userAgent.length > CACHED_LENGTH_MAX) return id;
  if (origins.length === ORIGINS_MAX * 2) origins.splice(0, 2);
  origins.push(userAgent, id);
  return id;
}
