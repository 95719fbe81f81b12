import { VERSION_GROUPINGS, type VersionGrouping } from "../../schemas/contracts/statistics.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { quotedText } from "../queries/sql-literals.js";

/** How versions are read: as of Python (PEP 440), as tags of images, or as Semantic Versioning with gaps and additions. */
export type VersionScheme = "pep440" | "tag" | "semver";

/** Packages of several types have no scheme in common: theirs is the most general one. */
export function schemeOf(types: ReadonlySet<LibraryType>): VersionScheme {
  const [type] = types;
  if (types.size !== 1) return "semver";
  return type === "pypi" ? "pep440" : type === "docker" ? "tag" : "semver";
}

export interface Grouping {
  scheme: VersionScheme;
  by: VersionGrouping;
}

/** Exact unless something else is asked for. */
export function groupingOf({
  libraryTypes,
  versions = "exact",
}: {
  libraryTypes: ReadonlySet<LibraryType>;
  versions?: VersionGrouping | undefined;
}): Grouping {
  return { scheme: schemeOf(libraryTypes), by: versions };
}

/** A version and the groups that it is in, the narrowest first. */
export function groupsOf(version: string, scheme: VersionScheme): string[] {
  return VERSION_GROUPINGS.map((by) => groupVersion(version, { scheme, by }));
}

/** SQL: an array of the same, each once. */
export function groupsSql(sql: string, scheme: VersionScheme): string {
  const groups = VERSION_GROUPINGS.map((by) => `toString(${groupSql(sql, { scheme, by })})`);
  return `arrayDistinct([${groups.join(", ")}])`;
}

/** Whether a text is that of a group. */
export function isGroup(version: string): boolean {
  return version.endsWith(".x");
}

/**
 * The group of a version: `1.4.2` is in `1.4.x` by minor and in `1.x` by major; pre-releases and variants are in the group
 * of their numbers. A text without a version number stands for itself, and so does the text of a group, unless a wider one
 * is asked for: `1.4.x` is in `1.x` by major.
 */
export function groupVersion(version: string, grouping: Grouping): string {
  return rulesOf(grouping).reduce(
    (text, [pattern, group]) => text.replace(new RegExp(pattern), group),
    version,
  );
}

/** SQL of the same: the two read the same rules, in the syntax that JavaScript and RE2 share. */
export function groupSql(sql: string, grouping: Grouping): string {
  return rulesOf(grouping).reduce(
    (text, [pattern, group]) =>
      `replaceRegexpOne(${text}, ${quotedText(pattern)}, ${quotedText(group.replaceAll("$", "\\"))})`,
    sql,
  );
}

/**
 * SQL of a version in `breakdown_values`, to be grouped. As it is stored, a function of it is computed for every text of that
 * column, also for those of other breakdowns, which takes six times as long as for its rows alone.
 */
export function storedVersion(column: string): string {
  return `CAST(${column} AS String)`;
}

/** A pattern of whole versions, and their group. No pattern matches the group that one before it made. */
type Rule = readonly [pattern: string, group: string];

function rulesOf({ scheme, by }: Grouping): readonly Rule[] {
  return by === "exact" ? [] : RULES[scheme][by];
}

const REST = "[\\s\\S]*$";

/** Before the number stands nothing, or a name that ends with neither letter nor digit: `jq-1.7`, `cli/v2.3`. */
const DOTTED = `^((?:[^0-9.]*[^0-9.A-Za-z])?)[vV]?([0-9]+)\\.([0-9]+)${REST}`;
/** A number without a dot is one where nothing or a separator follows: `1-alpine`, but not the hash `4f2a1b7`. */
const SINGLE = `^[vV]?([0-9]+)(?:[-_+]${REST}|$)`;

const EPOCH = "^[vV]?((?:[1-9][0-9]*!)?)(?:0+!)?";
const PYTHON_DOTTED = `${EPOCH}0*([0-9]+)\\.0*([0-9]+)${REST}`;
const PYTHON_SINGLE = `${EPOCH}0*([0-9]+)(?:[-+]${REST}|[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview|post|rev|r|dev)(?:[-_.0-9+]${REST}|$)|$)`;

const RULES: Readonly<Record<VersionScheme, Record<"minor" | "major", readonly Rule[]>>> = {
  // 1 is the same version as 1.0, and 01.2 as 1.2.
  pep440: {
    minor: [
      [PYTHON_DOTTED, "$1$2.$3.x"],
      [PYTHON_SINGLE, "$1$2.0.x"],
    ],
    major: [
      [PYTHON_DOTTED, "$1$2.x"],
      [PYTHON_SINGLE, "$1$2.x"],
    ],
  },
  // The tag 1 moves from one minor version to the next.
  tag: {
    minor: [
      [DOTTED, "$1$2.$3.x"],
      [SINGLE, "$1.x"],
    ],
    major: [
      [DOTTED, "$1$2.x"],
      [SINGLE, "$1.x"],
    ],
  },
  semver: {
    minor: [
      [DOTTED, "$1$2.$3.x"],
      [SINGLE, "$1.0.x"],
    ],
    major: [
      [DOTTED, "$1$2.x"],
      [SINGLE, "$1.x"],
    ],
  },
};
