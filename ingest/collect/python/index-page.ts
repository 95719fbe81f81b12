/** A page of a Python index as PEP 691 spells it, whichever form the upstream has it in. */
export type IndexPage = ProjectPage | RootPage;

/** The files of one project. */
export interface ProjectPage {
  kind: "project";
  /** What else the page says (`meta`, `versions`, ...), handed on as it is. */
  rest: Readonly<Record<string, unknown>>;
  files: readonly IndexFile[];
}

export interface IndexFile {
  filename: string;
  /** Where the file is: absolute, http or https, with the fragment that the upstream gave it. */
  url: string;
  /** What else is known of it, by its PEP 691 keys. */
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

/** The upstream answered with something that is no page of a Python index. */
export class UnreadableIndex extends Error {
  override readonly name = "UnreadableIndex";
}

/** More than any index has; a page of tiny links would take memory out of proportion to its bytes. */
export const LINKS_MAX = { project: 100_000, root: 500_000 } as const satisfies Record<
  IndexPage["kind"],
  number
>;

/**
 * A file as it is listed, or undefined where it cannot be served: a link that is not to the web, or a name that is none.
 * `base` is what relative links are relative to.
 */
export function indexFile({ filename, url, rest }: IndexFile, base: string): IndexFile | undefined {
  if (!FILE_NAME.test(filename) || !URL.canParse(url, base)) return undefined;
  const address = new URL(url, base);
  if (address.protocol !== "http:" && address.protocol !== "https:") return undefined;
  return { filename, url: address.href, rest };
}

const FILE_NAME = /^(?!\.{1,2}$)[^/\\\p{Cc}\p{Surrogate}]{1,255}$/u;

/** PEP 508; anything else is no name of a project. */
export function isProjectName(text: string): boolean {
  return text.length <= 255 && /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i.test(text);
}

/** Throws UnreadableIndex for a major version that this program does not know, as PEP 629 asks. */
export function checkIndexVersion(version: unknown): void {
  if (version === undefined || (typeof version === "string" && /^1(?:\.|$)/.test(version))) return;
  throw new UnreadableIndex(`the index is of version ${JSON.stringify(version)}; only 1.x is known`);
}
