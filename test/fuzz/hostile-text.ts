import fc from "fast-check";

/** Texts that have broken parsers, encoders and readers of exports. */
const PIECES = [
  ...["", " ", "\t", "\r", "\n", "\r\n", "\0", "\u0085", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe"],
  ...["\ud800", "\udfff", "\ud800\udc00", "𝄞🦀", "e\u0301", "\u202e", "ﬀ", "İ", "ß"],
  ...[
    '"',
    '""',
    "'",
    "`",
    ",",
    ";",
    "|",
    "\\",
    "\\N",
    "\\x00",
    "\\u0000",
    "%00",
    "%",
    "%zz",
    "%c3%28",
    "%2F",
    "+",
    "&",
    "=",
  ],
  ...[
    "=1+1",
    "@SUM(A1)",
    "-1",
    "{}",
    "{a}",
    "{+a}",
    "{",
    "}",
    "[",
    "]",
    "$",
    "${x}",
    "../",
    "..",
    "//",
    "/",
    "?",
    "#",
  ],
  ...["null", "undefined", "NaN", "Infinity", "true", "0", "-0", "1e999", "9007199254740993", "NULL", "()"],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "__exception__\r\n",
    "<script>",
    "<!--",
    "]]>",
  ],
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
