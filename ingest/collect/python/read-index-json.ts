import { isObject } from "../../../schemas/is-object.js";
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
  /** The URL of the page. Its links are relative to it. */
  url: string;
}

/** Parses the JSON form (PEP 691). Throws UnreadableIndex for any other text and for an unknown index version. */
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

/** A file, its hashes, those of its metadata, and two for future keys. */
const OBJECTS_PER_LINK = 5;

/** An upper bound, because braces inside strings count too. Parsing first would already take the memory. */
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
    throw new UnreadableIndex("the content type of the page is JSON, but it is not valid JSON", {
      cause: error,
    });
  }
  if (!isObject(page)) throw new UnreadableIndex("the page is not a JSON object");
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
