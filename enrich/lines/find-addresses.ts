import { addressOf } from "../lookups/parse-address.js";

/** A line with more addresses is not searched to its end. */
const ADDRESSES_MAX = 1_000;
/** The same for texts that could be one: a line of 1 MiB may have a million, and nothing else runs during the search. */
const CANDIDATES_MAX = 20_000;

/**
 * Each spelling once; undefined if there are too many. Finds too many rather than too few:
 * parts of an IPv6 address count as well. Neither `1203.0.113.9` nor `203.0.113.91` has 203.0.113.9.
 */
export function addressesIn(text: string): string[] | undefined {
  const found = new Set<string>();
  let candidates = 0;
  for (const part of new Set([text, unescape(text)]))
    for (const candidate of candidatesIn(part)) {
      if (addressOf(candidate).family !== 0) found.add(candidate);
      if (++candidates > CANDIDATES_MAX || found.size > ADDRESSES_MAX) return undefined;
    }
  return [...found];
}

/** Escapes of URLs, of JSON and of nginx's logs, whose digits would lengthen the number behind them. */
const ESCAPED = /(?:%|\\x|\\u00)([0-9A-Fa-f]{2})/g;

function unescape(text: string): string {
  return text.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

const IPV4 = /(?<!\d)(?=((?:\d{1,3}\.){3}\d{1,3})(?!\d))/g;
const IPV6_RUN = /[0-9A-Fa-f:.]{2,}/g;

function* candidatesIn(text: string): Generator<string> {
  for (const [, candidate = ""] of text.matchAll(IPV4)) yield candidate;
  for (const [run] of text.matchAll(IPV6_RUN)) yield* ipv6In(run.split(":"));
}

const GROUP = /^[0-9A-Fa-f]{0,4}$/;
/** From the first to the last of eight groups. */
const STEPS = 7;

/** Takes a text between its colons. The spans from one part end at what is no address any more: each part has a few. */
function* ipv6In(parts: readonly string[]): Generator<string> {
  for (let from = 0; from < parts.length; from++) {
    let gaps = 0;
    for (let to = from + 1; to < parts.length && to <= from + STEPS + 1; to++) {
      const part = parts[to]!;
      const full = to - from === STEPS || (to - from === STEPS - 1 && part.includes("."));
      if (gaps === 1 || full) yield* candidatesOf(parts.slice(from, to + 1));
      if (part === "") gaps++;
      if (gaps > 1 || !GROUP.test(part)) break;
    }
  }
}

function* candidatesOf(span: readonly string[]): Generator<string> {
  const [first = "", ...others] = span;
  // The addresses of clients begin with four digits: letters before these are no part of one.
  const digits = first.slice(first.lastIndexOf(".") + 1).slice(-4);
  const head = [digits, ...others.slice(0, -1)].join(":");
  for (const last of beginnings(others.at(-1)!)) yield `${head}:${last}`;
}

const IPV4_FIRST = /^(?:\d{1,3}\.){3}\d{1,3}(?!\d)/;

function beginnings(part: string): string[] {
  const [digits = ""] = part.split(".", 1);
  const groups = digits.length <= 4 ? [digits] : [4, 3, 2, 1].map((length) => digits.slice(0, length));
  return [...groups, ...(IPV4_FIRST.exec(part) ?? [])];
}
