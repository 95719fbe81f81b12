import { isUtf8 } from "node:buffer";

const PERCENT_SIGN = 0x25;

export interface SentCharacter {
  /** The form for comparison. An encoded `/` differs from a plain one; any other character equals its encoding. */
  match: string;
  /** The character itself. A byte that is not UTF-8 is a lone surrogate, U+DC80 to U+DCFF, until `readableText`. */
  plain: string;
  /** The form for a new URL with the same meaning. Reserved characters stay encoded if they were. */
  encoded: string;
}

/**
 * Decodes once: `%25` is a per cent sign. A `%` that starts no encoding stands for itself. Bytes that are not
 * UTF-8 stay what they are in a new URL (as with Python's `surrogateescape`). `+` is a plus.
 */
export function decodePercent(text: string): SentCharacter[] {
  const sent: SentCharacter[] = [];
  for (let at = 0; at < text.length;) {
    const plain = PLAIN[text.charCodeAt(at)];
    if (plain !== undefined) {
      sent.push(plain);
      at++;
      continue;
    }
    PIECE.lastIndex = at;
    const [piece = "", escapes] = PIECE.exec(text) ?? [];
    if (escapes === undefined) sent.push(unescaped(piece));
    else sent.push(...decodeBytes(escapes));
    at += piece.length;
  }
  return sent;
}

const PIECE = /((?:%[0-9A-Fa-f]{2})+)|[^]/uy;
/** ASCII without the per cent sign. Reusing these objects is twenty times as fast as creating them for each request. */
const PLAIN: readonly (SentCharacter | undefined)[] = Array.from({ length: 128 }, (_, code) =>
  code === PERCENT_SIGN ? undefined : Object.freeze(unescaped(String.fromCharCode(code))),
);

function unescaped(plain: string): SentCharacter {
  return { match: plain, plain, encoded: plain === "%" ? "%25" : plain };
}

function decodeBytes(escapes: string): SentCharacter[] {
  const bytes = Buffer.from(escapes.replaceAll("%", ""), "hex");
  const characters: SentCharacter[] = [];
  for (let at = 0; at < bytes.length;) {
    const character = bytes.subarray(at, at + utf8LengthOf(bytes[at] ?? 0));
    const valid = isUtf8(character);
    characters.push(valid ? decodedCharacter(character.toString()) : undecodable(bytes[at] ?? 0));
    at += valid ? character.length : 1;
  }
  return characters;
}

/** The length of a character in UTF-8, from its first byte. */
function utf8LengthOf(byte: number): number {
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

function undecodable(byte: number): SentCharacter {
  const plain = String.fromCharCode(LONE + byte);
  return { match: escapeByte(byte), plain, encoded: plain };
}

const LONE = 0xdc00;
const LONE_BYTES = /[\u{dc80}-\u{dcff}]/gu;

/** A decoded text for people and stores: a byte that is not UTF-8 is written as it was sent, `%FF`. */
export function readableText(text: string): string {
  return text.replace(LONE_BYTES, (lone) => escapeByte(lone.charCodeAt(0) - LONE));
}

function decodedCharacter(plain: string): SentCharacter {
  const encoded = RESERVED.test(plain) ? escapeByte(plain.charCodeAt(0)) : plain;
  return { match: plain === "/" ? encoded : plain, plain, encoded };
}

/** RFC 3986, 2.2, and the per cent sign. */
const RESERVED = /^[:/?#[\]@!$&'()*+,;=%]$/;

export function escapeByte(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
