/** One receiver or sender of mail. */
export interface Mailbox {
  /** Empty where there is none. */
  name: string;
  /** Without comments and needless quotes: `ada@example.org`. */
  address: string;
}

/** RFC 5321, 4.5.3.1. */
const LOCAL_BYTES_MAX = 64;
const ADDRESS_BYTES_MAX = 254;
const LENGTH_MAX = 1_000;

/**
 * Parses a mailbox (RFC 5322, 3.4) in UTF-8 (RFC 6532): an address, or a name and an address in angle brackets, with
 * comments. A name may have dots without quotes, as most programs write them. Undefined for anything else, such as a
 * list, a group, or text with line ends or invisible characters.
 */
export function parseMailbox(text: string): Mailbox | undefined {
  if (text.length > LENGTH_MAX || /[\p{C}\u2028\u2029]/u.test(text.replaceAll("\t", " "))) return undefined;
  const tokens = tokensOf(text);
  if (tokens === undefined) return undefined;
  const open = tokens.findIndex(({ sign }) => sign === "<");
  if (open < 0) return named("", tokens);
  const name = nameOf(tokens.slice(0, open));
  const isClosed = tokens.at(-1)?.sign === ">";
  return name === undefined || !isClosed ? undefined : named(name, tokens.slice(open + 1, -1));
}

export function isMailbox(text: string): boolean {
  return parseMailbox(text) !== undefined;
}

/** An atom, a quoted string with its content, a domain literal, or a special sign. */
interface Token {
  sign: string;
  text: string;
}

const TOKEN = /([^\s()<>[\]:;@\\,."]+)|"((?:[^"\\]|\\.)*)"|(\[[^[\]\\]*\])|([<>@.])|[ \t]+/uy;

/** Without spaces and comments. Undefined where something else is in the text. */
function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    if (text[at] === "(") {
      const end = endOfComment(text, at);
      if (end === undefined) return undefined;
      at = end;
      continue;
    }
    TOKEN.lastIndex = at;
    const [whole, atom, quoted, literal, sign] = TOKEN.exec(text) ?? [];
    if (whole === undefined) return undefined;
    at += whole.length;
    if (atom !== undefined) tokens.push({ sign: "atom", text: atom });
    else if (quoted !== undefined) tokens.push({ sign: "quoted", text: quoted.replace(/\\(.)/gu, "$1") });
    else if (literal !== undefined) tokens.push({ sign: "literal", text: literal });
    else if (sign !== undefined) tokens.push({ sign, text: sign });
  }
  return tokens;
}

/** The index after a comment, which may have comments in it. */
function endOfComment(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Words and dots. A sign in it makes it no name. */
function nameOf(tokens: readonly Token[]): string | undefined {
  if (tokens.some(({ sign }) => !["atom", "quoted", "."].includes(sign))) return undefined;
  return tokens.reduce((name, { sign, text }) => name + (name === "" || sign === "." ? "" : " ") + text, "");
}

function named(name: string, tokens: readonly Token[]): Mailbox | undefined {
  const at = tokens.findIndex(({ sign }) => sign === "@");
  if (at < 1) return undefined;
  const local = localOf(tokens.slice(0, at));
  const domain = domainOf(tokens.slice(at + 1));
  if (local === undefined || domain === undefined) return undefined;
  const address = `${local}@${domain}`;
  if (bytesOf(local) > LOCAL_BYTES_MAX || bytesOf(address) > ADDRESS_BYTES_MAX) return undefined;
  return { name, address };
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

const DOT_ATOM = /^[^\s()<>[\]:;@\\,."]+(?:\.[^\s()<>[\]:;@\\,."]+)*$/u;

function localOf(tokens: readonly Token[]): string | undefined {
  const [first, ...others] = tokens;
  if (first?.sign === "quoted" && others.length === 0) {
    if (DOT_ATOM.test(first.text)) return first.text;
    return first.text === "" ? undefined : `"${first.text.replace(/["\\]/g, "\\$&")}"`;
  }
  return dotAtomOf(tokens);
}

function domainOf(tokens: readonly Token[]): string | undefined {
  const [first, ...others] = tokens;
  if (first?.sign === "literal" && others.length === 0)
    return isAddressLiteral(first.text) ? first.text : undefined;
  const domain = dotAtomOf(tokens);
  return domain !== undefined && isDomain(domain) ? domain : undefined;
}

function dotAtomOf(tokens: readonly Token[]): string | undefined {
  const isAlternating = tokens.every(({ sign }, at) => sign === (at % 2 === 0 ? "atom" : "."));
  return isAlternating && tokens.length % 2 === 1 ? tokens.map(({ text }) => text).join("") : undefined;
}

/** With a dot in it: mail leaves this machine. */
function isDomain(domain: string): boolean {
  const ascii = asciiOf(domain);
  const label = String.raw`[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?`;
  return ascii.length <= 253 && new RegExp(String.raw`^(?:${label}\.)+${label}$`, "i").test(ascii);
}

/** As servers ask for it that know nothing of other scripts. Empty for what is no domain. */
export function asciiOf(domain: string): string {
  if (/^[\u0020-\u007e]*$/.test(domain)) return domain;
  return URL.canParse(`http://${domain}`) ? new URL(`http://${domain}`).hostname : "";
}

/**
 * How receivers are compared: the domain without case and in ASCII, what stands before it as written, because only the
 * receiver's server knows whether its case matters. For the address of a mailbox.
 */
export function mailboxKey(address: string): string {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  return `${address.slice(0, at)}@${(asciiOf(domain) || domain).toLowerCase()}`;
}

/** RFC 5321, 4.1.3. */
function isAddressLiteral(literal: string): boolean {
  const address = literal.slice(1, -1);
  const numbers = address.split(".");
  if (numbers.length === 4) return numbers.every((each) => /^\d{1,3}$/.test(each) && Number(each) < 256);
  return /^IPv6:[\da-f:.]+$/i.test(address) && URL.canParse(`http://[${address.slice(5)}]`);
}
