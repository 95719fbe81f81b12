import { compare as comparePython, valid as isPython } from "@renovatebot/pep440";
import semver from "semver";
import { groupVersion, isGroup, type VersionScheme } from "./group-version.js";

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
  return (one, other) => -compareParsed(parse(one), parse(other), REST[scheme]) || byText(other, one);
}

interface Parsed {
  text: string;
  hasNumber: boolean;
  /** The name before the number. */
  name: string;
  /** The epoch, then the numbers between dots. */
  numbers: readonly bigint[];
  rest: string;
}

const VERSION = /^((?:[^0-9.]*[^0-9.A-Za-z])?)[vV]?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)([\s\S]*)$/;

function parseVersion(text: string, scheme: VersionScheme): Parsed {
  const [, name = "", epoch = "0", release = "", rest = ""] = VERSION.exec(text) ?? [];
  const isGrouped = groupVersion(text, { scheme, by: "major" }) !== text || isGroup(text);
  const hasNumber = release !== "" && isGrouped;
  return { text, hasNumber, name, numbers: [epoch, ...release.split(".")].map(BigInt), rest };
}

function compareParsed(one: Parsed, other: Parsed, rests: Compare): number {
  if (!one.hasNumber || !other.hasNumber)
    return Number(one.hasNumber) - Number(other.hasNumber) || natural(one.text, other.text);
  return (
    natural(other.name, one.name) ||
    compareNumbers(one.numbers, other.numbers) ||
    rests(one.rest, other.rest) ||
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

/** What follows equal numbers. Texts that a scheme does not know come before all that it does. */
const REST: Readonly<Record<VersionScheme, Compare>> = {
  pep440: (one, other) => {
    const [a, b] = [`0${one}`, `0${other}`];
    const [knowsOne, knowsOther] = [isPython(a) !== null, isPython(b) !== null];
    return knowsOne && knowsOther ? comparePython(a, b) : Number(knowsOne) - Number(knowsOther);
  },
  semver: (one, other) => {
    const [a, b] = [semver.parse(`0.0.0${one}`, LOOSE), semver.parse(`0.0.0${other}`, LOOSE)];
    return a !== null && b !== null ? a.compare(b) : Number(a !== null) - Number(b !== null);
  },
  tag: (one, other) => Number(PRE_RELEASE.test(other)) - Number(PRE_RELEASE.test(one)),
};

const LOOSE = { loose: true };

/** Tags have variants behind the number as well, which are no earlier than the version: `1.10-alpine`. */
const PRE_RELEASE = /^[-._]?(?:alpha|beta|rc|pre|dev|snapshot|nightly)(?![a-z])/i;
