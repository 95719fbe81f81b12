import { parse as parsePython } from "@renovatebot/pep440";
// The whole library has 50 files.
import parseSemver from "semver/functions/parse.js";
import type { VersionScheme } from "./group-version.js";

/** How texts behind equal numbers are parsed, once each, and ordered. Texts that a scheme does not know come before others. */
export interface RestOrder {
  parse: (rest: string) => unknown;
  compare: (one: unknown, other: unknown) => number;
}

export const RESTS: Readonly<Record<VersionScheme, RestOrder>> = {
  pep440: orderOf(parseOfPython, compareOfPython),
  semver: orderOf(
    (rest) => parseSemver(`0.0.0${rest}`, { loose: true }),
    (one, other) => one.compare(other),
  ),
  tag: orderOf(
    (rest) => PRE_RELEASE.test(rest),
    (one, other) => Number(other) - Number(one),
  ),
};

function orderOf<Parsed>(
  parse: (rest: string) => Parsed | null,
  compare: (one: Parsed, other: Parsed) => number,
): RestOrder {
  return {
    parse,
    compare: (one, other) =>
      one === null || other === null
        ? Number(one !== null) - Number(other !== null)
        : compare(one as Parsed, other as Parsed),
  };
}

/** Tags have variants behind the number as well, which are no earlier than the version: `1.10-alpine`. */
const PRE_RELEASE = /^[-._]?(?:alpha|beta|rc|pre|dev|snapshot|nightly)(?![a-z])/i;

interface PythonRest {
  /** Of the pre-release, post-release and development release. */
  numbers: readonly number[];
  local: readonly (string | number)[];
}

/** The library parses both texts at each comparison: this is its order, parsed once. */
function parseOfPython(rest: string): PythonRest | null {
  const parsed = parsePython(`0${rest}`);
  if (parsed === null) return null;
  const { pre, post, dev, local } = parsed as unknown as PythonParts;
  const withoutPre = dev !== null && post === null ? -1 : PRE_LETTERS.length;
  const [letter, number] = pre === null ? [withoutPre, 0] : [PRE_LETTERS.indexOf(pre[0]), pre[1]];
  return { numbers: [letter, number, post?.[1] ?? -1, dev?.[1] ?? Infinity], local: local ?? [] };
}

interface PythonParts extends Record<
  "pre" | "post" | "dev",
  readonly [letter: string, number: number] | null
> {
  local: readonly (string | number)[] | null;
}

const PRE_LETTERS = ["a", "b", "rc"];

function compareOfPython(one: PythonRest, other: PythonRest): number {
  for (const [place, number] of one.numbers.entries()) {
    const against = other.numbers[place] ?? 0;
    if (number !== against) return number < against ? -1 : 1;
  }
  return compareLocals(one.local, other.local);
}

/** Numbers come after texts, and the longer of two that begin alike comes after the shorter. */
function compareLocals(one: PythonRest["local"], other: PythonRest["local"]): number {
  for (const [place, part] of one.entries()) {
    const against = other[place];
    if (against === undefined) return 1;
    if (part === against) continue;
    if (typeof part !== typeof against) return typeof part === "number" ? 1 : -1;
    return part < against ? -1 : 1;
  }
  return one.length - other.length;
}
