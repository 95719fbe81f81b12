import { isUtf8 } from "node:buffer";

const PERCENT_SIGN = 0x25;

/** One character of a path or a query as it was sent. */
export interface SentCharacter {
  /** What it is compared by: an encoded `/` is no separator, everything else is the same encoded or not. */
  match: string;
  /** The character itself. */
  plain: string;
  /** As it has to be written to mean the same again: reserved characters stay encoded if they were. */
  spelt: string;
}

/**
 * Takes percent-encoding apart, once: `%25` is a per cent sign and decodes no further. A `%` that begins no encoding
 * stands for itself, and bytes that are not UTF-8 stay as they were sent. `+` is a plus, not a space.
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
    const [piece = "", encoded] = PIECE.exec(text) ?? [];
    if (encoded === undefined) sent.push(asSent(piece));
    else sent.push(...decodeBytes(encoded));
    at += piece.length;
  }
  return sent;
}

const PIECE = /((?:%[0-9A-Fa-f]{2})+)|[^]/uy;
/** Of ASCII but the per cent sign: this is done for every request, and making these anew takes twenty times as long. */
const PLAIN: readonly (SentCharacter | undefined)[] = Array.from({ length: 128 }, (_, code) =>
  code === PERCENT_SIGN ? undefined : Object.freeze(asSent(String.fromCharCode(code))),
);

function asSent(plain: string): SentCharacter {
  return { match: plain, plain, spelt: plain === "%" ? "%25" : plain };
}

function decodeBytes(encoded: string): SentCharacter[] {
  const bytes = Buffer.from(encoded.replaceAll("%", ""), "hex");
  const characters: SentCharacter[] = [];
  for (let at = 0; at < bytes.length;) {
    const character = bytes.subarray(at, at + lengthBegunBy(bytes[at] ?? 0));
    const sound = isUtf8(character);
    characters.push(sound ? decodedCharacter(character.toString()) : undecodable(bytes[at] ?? 0));
    at += sound ? character.length : 1;
  }
  return characters;
}

/** How many bytes a character has in UTF-8, by its first. */
function lengthBegunBy(byte: number): number {
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

function undecodable(byte: number): SentCharacter {
  const sent = escapeByte(byte);
  return { match: sent, plain: sent, spelt: sent };
}

function decodedCharacter(plain: string): SentCharacter {
  const spelt = RESERVED.test(plain) ? escapeByte(plain.charCodeAt(0)) : plain;
  return { match: plain === "/" ? spelt : plain, plain, spelt };
}

/** RFC 3986, 2.2, and the per cent sign. */
const RESERVED = /^[:/?#[\]@!$&'()*+,;=%]$/;

function escapeByte(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
