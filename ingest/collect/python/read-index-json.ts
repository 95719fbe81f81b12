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
  const linksMax = LINKS_MAX[kind];
  if (countObjects(bytes) > OBJECTS_PER_LINK * linksMax + 1000)
    throw new UnreadableIndex(`the page has over ${linksMax} entries`);
  const page = decodePage(bytes);
  if (isObject(page.meta)) checkIndexVersion(page.meta["api-version"]);
  const { files, projects, ...rest } = page;
  return kind === "root"
    ? { kind, rest, projects: entries(projects, linksMax).flatMap(projectOf) }
    : { kind, rest, files: entries(files, linksMax).flatMap((entry) => fileOf(entry, url)) };
}

/** A file with its hashes and those of its metadata, and room for what is to come. */
const OBJECTS_PER_LINK = 5;

/** At most: braces in texts count too. Parsing tells it only when they have taken their memory. */
function countObjects(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x7b || bytes[at] === 0x5b) count++;
  return count;
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

function entries(list: unknown, linksMax: number): Record<string, unknown>[] {
  if (!Array.isArray(list)) throw new UnreadableIndex("the page lists neither files nor projects");
  if (list.length > linksMax) throw new UnreadableIndex(`the page has over ${linksMax} entries`);
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
