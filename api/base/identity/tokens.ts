import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";

/** Stores secrets in two forms: a keyed hash for lookup, a ciphertext for display. */
export interface TokenCipher {
  /** Differs between secret keys and reveals nothing else about them. */
  readonly fingerprint: Buffer;
  /** A fresh secret, 256 random bits: its kind's prefix, such as `mtk_`, and 43 characters of base64url. */
  issue(kind?: SecretKind): string;
  hash(token: string): Buffer;
  /** Whether `token` is the one that `hash` was made from, in constant time. */
  matches(token: string, hash: Uint8Array): boolean;
  /** Encrypts a token for one account. It cannot be opened for another account. */
  seal(token: string, accountId: string): Buffer;
  /** Throws if the ciphertext is damaged, or was sealed with another key or for another account. */
  open(ciphertext: Uint8Array, accountId: string): string;
}

/** `secretKey` is the 32 bytes of SECRET_KEY. Lookup and encryption each derive their own key from it. */
export function createTokenCipher(secretKey: Buffer): TokenCipher {
  if (secretKey.length !== 32) throw new RangeError(`a secret key has 32 bytes, not ${secretKey.length}`);
  const lookupKey = deriveKey(secretKey, "api-token lookup");
  const sealer = createSealer(secretKey, "api-token");
  const hash = (token: string) => createHmac("sha256", lookupKey).update(token).digest();
  return {
    fingerprint: deriveKey(secretKey, "fingerprint"),
    issue: (kind = "token") => PREFIX[kind] + randomBytes(32).toString("base64url"),
    hash,
    matches: (token, expected) => equalBytes(hash(token), expected),
    seal: (token, accountId) => sealer.seal(token, accountId),
    open: (ciphertext, accountId) => sealer.open(ciphertext, accountId),
  };
}

/** Encrypts texts for the record that they belong to. A text that was sealed for another id cannot be opened. */
export interface Sealer {
  seal(text: string, id: string): Buffer;
  /** Throws if the ciphertext is damaged, or was sealed with another key or for another id. */
  open(ciphertext: Uint8Array, id: string): string;
}

/** Derives a key for this kind of secret from the 32 bytes of SECRET_KEY. */
export function createSealer(secretKey: Buffer, kind: string): Sealer {
  const key = deriveKey(secretKey, `${kind} encryption`);
  return {
    seal: (text, id) => seal(key, text, id),
    open: (ciphertext, id) => open(key, ciphertext, id),
  };
}

/** API tokens, the values of session cookies, and the secrets in sign-in links. */
const PREFIX = { token: "mtk_", session: "mts_", link: "mtl_" } as const;
export type SecretKind = keyof typeof PREFIX;

/** Whether a text has the form of a secret of that kind. Other texts need no query. */
export function looksLike(kind: SecretKind, text: string): boolean {
  return text.startsWith(PREFIX[kind]) && /^[A-Za-z0-9_-]{43}$/.test(text.slice(PREFIX[kind].length));
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

function deriveKey(secretKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "", `maintainer-toolchain ${purpose} v1`, 32));
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Layout: nonce (12 bytes), tag (16), ciphertext. */
function seal(key: Buffer, token: string, id: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(id));
  const text = Buffer.concat([cipher.update(token, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

function open(key: Buffer, sealed: Uint8Array, id: string): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(id)).setAuthTag(tag);
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  return text.toString("utf8");
}
