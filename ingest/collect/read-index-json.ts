import {
  checkIndexVersion,
  indexFile,
  isProjectName,
  LINKS_MAX,
  UnreadableIndex,
  type IndexFile,
  type IndexPage,
  type IndexProject,
} from "./index-page.js";

interface ReadOptions {
  kind: IndexPage["kind"];
  /** Where the page came from: what its links are relative to. */
  url: string;
}

/** Reads the JSON form (PEP 691). Throws UnreadableIndex for what is none, or of a version that is not known. */
export function readIndexJson(bytes: Buffer, { kind, url }: ReadOptions): IndexPage {
  const page = decodePage(bytes);
  if (isObject(page.meta)) checkIndexVersion(page.meta["api-version"]);
  const { files, projects, ...rest } = page;
  return kind === "root"
    ? { kind, rest, projects: entries(projects).flatMap(projectOf) }
    : { kind, rest, files: entries(files).flatMap((entry) => fileOf(entry, url)) };
}

function decodePage(bytes: Buffer): Record<string, unknown> {
  let page: unknown;
  try {
    page = JSON.parse(bytes.toString());
  } catch (error) {
    throw new UnreadableIndex("the page is said to be JSON and is none", { cause: error });
  }
  if (!isObject(page)) throw new UnreadableIndex("the page is no JSON object");
  return page;
}

function entries(list: unknown): Record<string, unknown>[] {
  if (!Array.isArray(list)) throw new UnreadableIndex("the page lists neither files nor projects");
  if (list.length > LINKS_MAX) throw new UnreadableIndex(`the page has over ${LINKS_MAX} entries`);
  return list.filter(isObject);
}

function projectOf({ name, ...rest }: Record<string, unknown>): IndexProject[] {
  return typeof name === "string" && isProjectName(name) ? [{ name, rest }] : [];
}

function fileOf({ filename, url, ...rest }: Record<string, unknown>, base: string): IndexFile[] {
  if (typeof filename !== "string" || typeof url !== "string") return [];
  const file = indexFile({ filename, url, rest }, base);
  return file === undefined ? [] : [file];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
