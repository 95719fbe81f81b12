/** A page of a Python index in the terms of PEP 691, whatever form the upstream sent. */
export type IndexPage = ProjectPage | RootPage;

/** The files of one project. */
export interface ProjectPage {
  kind: "project";
  /** The other keys of the page (`meta`, `versions`, ...), passed on unchanged. */
  rest: Readonly<Record<string, unknown>>;
  files: readonly IndexFile[];
}

export interface IndexFile {
  filename: string;
  /** Absolute, http or https, with the fragment that the upstream gave it. */
  url: string;
  /** The other PEP 691 keys of the file. */
  rest: Readonly<Record<string, unknown>>;
}

/** All projects of an index. */
export interface RootPage {
  kind: "root";
  rest: Readonly<Record<string, unknown>>;
  projects: readonly IndexProject[];
}

export interface IndexProject {
  name: string;
  rest: Readonly<Record<string, unknown>>;
}

/** The upstream's answer is no page of a Python index. */
export class UnreadableIndex extends Error {
  override readonly name = "UnreadableIndex";
}

/** More than any index has. A page of tiny links would take far more memory than its bytes. */
export const LINKS_MAX = { project: 100_000, root: 500_000 } as const satisfies Record<
  IndexPage["kind"],
  number
>;

/**
 * A file with its absolute URL; undefined when it cannot be served: a link that is not http or https, or an invalid
 * name. Relative links are resolved against `base`.
 */
export function indexFile({ filename, url, rest }: IndexFile, base: string): IndexFile | undefined {
  if (!FILE_NAME.test(filename) || !URL.canParse(url, base)) return undefined;
  const address = new URL(url, base);
  if (address.protocol !== "http:" && address.protocol !== "https:") return undefined;
  return { filename, url: address.href, rest };
}

const FILE_NAME = /^(?!\.{1,2}$)[^/\\\p{Cc}\p{Surrogate}]{1,255}$/u;

/** A valid project name of PEP 508. */
export function isProjectName(text: string): boolean {
  return text.length <= 255 && /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i.test(text);
}

/** Throws UnreadableIndex for an unknown major version, as PEP 629 requires. */
export function checkIndexVersion(version: unknown): void {
  if (version === undefined || (typeof version === "string" && /^1(?:\.|$)/.test(version))) return;
  throw new UnreadableIndex(`the index has version ${JSON.stringify(version)}; only 1.x is supported`);
}

/**
 * The version in the name of a distribution file (PEP 440), as written there, or undefined. The normalised name of the
 * project is needed to distinguish a hyphen in the name from the one before the version.
 */
export function versionOfFile(fileName: string, project: string): string | undefined {
  const stem = KINDS.flatMap(({ ending, hyphenFree }) =>
    fileName.toLowerCase().endsWith(ending) ? [{ text: fileName.slice(0, -ending.length), hyphenFree }] : [],
  )[0];
  if (stem === undefined) return undefined;
  return stem.hyphenFree ? versionOfWheel(stem.text, project) : versionOfArchive(stem.text, project);
}

/** No part of a wheel's or egg's name contains a hyphen. In source archives, both name and version may. */
const KINDS = [
  { ending: ".whl", hyphenFree: true },
  { ending: ".egg", hyphenFree: true },
  ...[".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".tar.z", ".tbz", ".tar"].map((ending) => ({
    ending,
    hyphenFree: false,
  })),
];

/** PEP 503: how names are compared. */
export function normalizedName(name: string): string {
  return name.replace(/[-_.]+/g, "-").toLowerCase();
}

function versionOfWheel(stem: string, project: string): string | undefined {
  const [name = "", version] = stem.split("-");
  return normalizedName(name) === project ? nonEmpty(version) : undefined;
}

function versionOfArchive(stem: string, project: string): string | undefined {
  for (let hyphen = stem.indexOf("-"); hyphen >= 0; hyphen = stem.indexOf("-", hyphen + 1)) {
    if (normalizedName(stem.slice(0, hyphen)) === project) return nonEmpty(stem.slice(hyphen + 1));
  }
  return undefined;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
