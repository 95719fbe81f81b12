import { groupVersion, isGroup, type VersionScheme } from "./group-version.js";
import { RESTS, type RestOrder } from "./version-rests.js";

type Compare = (one: string, other: string) => number;

/**
 * Orders versions, and groups of them, the newest first: by their numbers, then by the rules of their scheme, then as text.
 * Numbers with a name before them come after those without, and texts without a version number last. No two texts are
 * equal.
 */
export function newestFirst(scheme: VersionScheme): Compare {
  const parsed = new Map<string, Parsed>();
  const parse = (text: string) => {
    const known = parsed.get(text) ?? parseVersion(text, scheme);
    parsed.set(text, known);
    return known;
  };
  return (one, other) => -compareParsed(parse(one), parse(other), RESTS[scheme]) || byText(other, one);
}

interface Parsed {
  text: string;
  hasNumber: boolean;
  /** The name before the number. */
  name: string;
  /** The epoch, then the numbers between dots. */
  numbers: readonly bigint[];
  /** What follows the numbers, as the scheme reads it. */
  rest: unknown;
}

const VERSION = /^((?:[^0-9.]*[^0-9.A-Za-z])?)[vV]?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)([\s\S]*)$/;

function parseVersion(text: string, scheme: VersionScheme): Parsed {
  const [, name = "", epoch = "0", release = "", rest = ""] = VERSION.exec(text) ?? [];
  const isGrouped = groupVersion(text, { scheme, by: "major" }) !== text || isGroup(text);
  const hasNumber = release !== "" && isGrouped;
  const numbers = [epoch, ...release.split(".")].map(BigInt);
  return { text, hasNumber, name, numbers, rest: hasNumber ? RESTS[scheme].parse(rest) : null };
}

function compareParsed(one: Parsed, other: Parsed, rests: RestOrder): number {
  if (!one.hasNumber || !other.hasNumber)
    return Number(one.hasNumber) - Number(other.hasNumber) || natural(one.text, other.text);
  return (
    natural(other.name, one.name) ||
    compareNumbers(one.numbers, other.numbers) ||
    rests.compare(one.rest, other.rest) ||
    natural(one.text, other.text)
  );
}

/** Numbers that are not there are 0. */
function compareNumbers(one: readonly bigint[], other: readonly bigint[]): number {
  for (let place = 0; place < Math.max(one.length, other.length); place += 1) {
    const [a, b] = [one[place] ?? 0n, other[place] ?? 0n];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

const collator = new Intl.Collator("en", { numeric: true });
const natural: Compare = (one, other) => collator.compare(one, other);
const byText: Compare = (one, other) => (one === other ? 0 : one < other ? -1 : 1);
