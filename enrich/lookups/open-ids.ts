import { createHash, hash } from "node:crypto";
import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { EntryOf } from "./address-cache.js";

/**
 * HMAC-SHA256 cut to 16 bytes, as latin1 text. The key keeps an attacker from trying all addresses. The two
 * ids hash different prefixes, so they never match. "" without an address.
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

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
/** Room for a user agent and an address; longer texts take more. */
const TEXT_BYTES = 4096;

/**
 * RFC 2104 over two reused hashes takes half the time of an `Hmac` object, and each new address takes two
 * ids. Their results are texts, because buffers took twice as long.
 */
export function openHmac(key: Uint8Array, bytes: number): (text: string) => string {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? createHash("sha256").update(key).digest() : key);
  let inner = Buffer.concat([block.map((byte) => byte ^ 0x36)], BLOCK_BYTES + TEXT_BYTES);
  const outer = Buffer.concat([block.map((byte) => byte ^ 0x5c)], BLOCK_BYTES + HASH_BYTES);
  return (text) => {
    const bytesMax = BLOCK_BYTES + text.length * 3;
    if (bytesMax > inner.length) inner = Buffer.concat([inner], bytesMax);
    const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES);
    outer.write(hash("sha256", inner.subarray(0, end), "binary"), BLOCK_BYTES, "latin1");
    outer.write(hash("sha256", outer, "binary"), BLOCK_BYTES, "latin1");
    return outer.toString("latin1", BLOCK_BYTES, BLOCK_BYTES + bytes);
  };
}
