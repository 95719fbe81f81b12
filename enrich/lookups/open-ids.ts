import { createCipheriv, hash, hkdfSync } from "node:crypto";
import { ADDRESS_WORDS, addressOf } from "./parse-address.js";

/**
 * Keyed ids of 128 bits in place of addresses, for as many at once as there are: one call of the cipher took
 * 0.02 µs an id, an HMAC 1.5.
 */
export interface Ids {
  /** @param addresses as `addressOf` has them, one after the other; so are ids */
  endpoints(addresses: Uint32Array): Uint32Array<ArrayBuffer>;
  /** @param agents the hashes of the user agents by `hashAgent`, as many as `endpoints`, which are ids */
  origins(endpoints: Uint32Array, agents: Uint32Array): Uint32Array<ArrayBuffer>;
}

/**
 * Without the key nobody can try addresses; who has it can try all of IPv4 in minutes. An endpoint is AES of the address,
 * xored with the address, so that the key does not decrypt an IPv6 address at once (Matyas-Meyer-Oseas; Handbook of
 * Applied Cryptography, 9.41). An origin is AES, under
 * another key, of the endpoint xored with the hash of the user agent: CBC-MAC over both.
 */
export function openIds(key: Uint8Array): Ids {
  const encryptAddresses = openCipher(key, "endpoint ids");
  const encryptEndpoints = openCipher(key, "origin ids");
  return {
    endpoints: (addresses) => xor(encryptAddresses(addresses), addresses),
    origins: (endpoints, agents) => encryptEndpoints(xor(endpoints.slice(), agents)),
  };
}

/** ECB: each block is one id, and equal ones shall be equal. */
function openCipher(key: Uint8Array, purpose: string): (blocks: Uint32Array) => Uint32Array<ArrayBuffer> {
  const cipher = createCipheriv("aes-128-ecb", Buffer.from(hkdfSync("sha256", key, "", purpose, 16)), null);
  cipher.setAutoPadding(false);
  return (blocks) => new Uint32Array(new Uint8Array(cipher.update(blocks)).buffer);
}

function xor(blocks: Uint32Array<ArrayBuffer>, others: Uint32Array): Uint32Array<ArrayBuffer> {
  for (let at = 0; at < blocks.length; at++) blocks[at]! ^= others[at]!;
  return blocks;
}

/** As many words as an address has. */
export function hashAgent(userAgent: string): Uint32Array {
  const digest = new Uint8Array(hash("sha256", userAgent, "buffer"));
  return new Uint32Array(digest.buffer, 0, ADDRESS_WORDS);
}

/** The id of one client in hexadecimal, or "" for a text that is no address. */
export function endpointId(ids: Ids, address: string): string {
  const { family, words } = addressOf(address);
  return family === 0 ? "" : hexOf(ids.endpoints(words));
}

export function originId(ids: Ids, address: string, userAgent: string): string {
  const { family, words } = addressOf(address);
  return family === 0 ? "" : hexOf(ids.origins(ids.endpoints(words), hashAgent(userAgent)));
}

function hexOf({ buffer }: Uint32Array<ArrayBuffer>): string {
  return Buffer.from(buffer).toString("hex");
}
