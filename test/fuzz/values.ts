import { readFileSync } from "node:fs";
import fc from "fast-check";

/** Texts that have broken parsers, encoders and readers of exports. */
const PIECES = [
  ...["", " ", "\t", "\r", "\n", "\r\n", "\0", "\u0085", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe"],
  ...["\ud800", "\udfff", "\ud800\udc00", "𝄞🦀", "e\u0301", "\u202e", "ﬀ", "İ", "ß"],
  ...['"', '""', "'", "`"],
  ...String.raw`, ; | \ \N \x00 \u0000 %00 % %zz %c3%28 %2F + & =`.split(" "),
  ...String.raw`=1+1 @SUM(A1) -1 {} {a} {+a} { } [ ] $`.split(" "),
  ...["${x}", "../", "..", "//", "/", "?", "#"],
  ...["null", "undefined", "NaN", "Infinity", "true", "0", "-0", "1e999", "9007199254740993", "NULL", "()"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "__exception__\r\n"],
  ...["<script>", "<!--", "]]>"],
  ...["' OR 1=1 --", "'; drop table x; --", "${jndi:ldap://x}", "{{7*7}}", "\x1b[31m"],
];

const piece = fc.constantFrom(...PIECES);

/** Any text: words, odd pieces, whole Unicode, halves of surrogate pairs, and now and then a long one. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "grapheme-ascii" }) },
  { weight: 3, arbitrary: fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join("")) },
  { weight: 2, arbitrary: fc.tuple(fc.string(), piece, fc.string()).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  {
    weight: 1,
    arbitrary: fc.tuple(piece, lengthNear([256, 1024, 2048])).map(([text, length]) => repeated(text, length)),
  },
);

/** A length at a limit, or beside it. */
function lengthNear(limits: readonly number[]): fc.Arbitrary<number> {
  return fc
    .tuple(fc.constantFrom(...limits), fc.integer({ min: -1, max: 1 }))
    .map(([limit, by]) => limit + by);
}

function repeated(text: string, length: number): string {
  return (text || "x").repeat(length).slice(0, length);
}

/** Texts with one damage: a piece put in, a part cut out, a character changed. */
export function damaged(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(texts, fc.nat(), fc.integer({ min: 0, max: 3 }), fc.oneof(piece, fc.string({ maxLength: 3 })))
    .map(([text, place, cut, put]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + cut);
    });
}

/** Mostly as they are, and some damaged. */
export function sometimesDamaged(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 5, arbitrary: texts }, { weight: 1, arbitrary: damaged(texts) });
}

/** Percent-encoded; halves of surrogate pairs become U+FFFD, as they do in UTF-8. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

/** Any value as a text. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The days that most events are of, so that exports of a month have them. */
export const FUZZED_RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };
const RANGE_MS = [Date.parse(FUZZED_RANGE.startDate), Date.parse(FUZZED_RANGE.endDate) - 1] as const;

const momentMs = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: RANGE_MS[0], max: RANGE_MS[1] }) },
  { weight: 1, arbitrary: fc.integer({ min: -1e12, max: 5e12 }) },
);

const zone = fc.constantFrom("Z", "z", "", "+01:00", "-1130", "+14", "+00:00", "-00:00", "+24:00", "+05:60");

const isoTime = fc
  .tuple(momentMs, zone, fc.constantFrom("T", "t", " "), fc.nat({ max: 24 }))
  .map(([ms, offset, separator, cut]) => {
    const text = new Date(ms).toISOString().replace("Z", "").replace("T", separator);
    return text.slice(0, Math.max(10, text.length - cut)) + offset;
  });

const basicTime = isoTime.map((text) => text.replaceAll(/[-:](?=\d\d)/g, ""));

/** A `$time`, right or wrong. */
export const timeValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: momentMs.map((ms) => new Date(ms).toISOString()) },
  { weight: 3, arbitrary: sometimesDamaged(isoTime) },
  { weight: 1, arbitrary: sometimesDamaged(basicTime) },
  { weight: 2, arbitrary: momentMs },
  { weight: 1, arbitrary: momentMs.map((ms) => ms / 1000) },
  { weight: 1, arbitrary: momentMs.map(String) },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.double(), fc.maxSafeInteger(), fc.jsonValue({ maxDepth: 1 }), hostileText),
  },
);

/** An address of a client, right or wrong. */
export const addressText: fc.Arbitrary<string> = sometimesDamaged(
  fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map((address) => `::ffff:${address}`),
    fc.ipV4Extended(),
    fc.ipV6().map((address) => `${address}%eth0`),
    fc.ipV6().map((address) => `[${address}]:443`),
    fc.constantFrom(
      "141.113.0.20",
      "18.66.22.4",
      "2a00:1450:4001:80b::200e",
      "::",
      "::1",
      "255.255.255.255",
      "fe80::1",
    ),
  ),
);

/** Real user agents, whole and damaged, and texts that are none. */
export const userAgent: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: sometimesDamaged(fc.constantFrom(...readUserAgents())) },
  { weight: 1, arbitrary: hostileText },
);

function readUserAgents(): string[] {
  const file = new URL("../fixtures/user-agents/clients.tsv", import.meta.url);
  const [, ...rows] = readFileSync(file, "utf8").trimEnd().split("\n");
  return rows.map((row) => row.split("\t", 1)[0] ?? "");
}
