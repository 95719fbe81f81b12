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
import { isObject } from "../../../schemas/formats.js";
import { charsetIn, decoderOf } from "../../../schemas/text-decoder.js";

interface ReadOptions {
  kind: IndexPage["kind"];
  /** The URL of the page. Its links are relative to it, unless the page has a `base`. */
  url: string;
  /** Of the answer: it may name the charset. */
  contentType?: string | undefined;
  /** False where a page that was cut off looks like a whole one: then it must end with `</html>`. */
  isDelimited?: boolean;
}

/**
 * The HTML form (PEP 503), in the charset that the answer or the page names. Throws UnreadableIndex for an unknown index version, more links than
 * LINKS_MAX, and a page that may have been cut off.
 */
export async function readIndexHtml(
  bytes: AsyncIterable<Uint8Array>,
  { kind, url, contentType, isDelimited = true }: ReadOptions,
): Promise<IndexPage> {
  const links = new LinkReader(url, LINKS_MAX[kind]);
  // Loaded for the first page: a start need not wait for it.
  const { Parser } = await import("htmlparser2");
  const parser = new Parser(links);
  for await (const text of decodeHtml(bytes, contentType)) parser.write(text);
  parser.end();
  if (!isDelimited && !links.isClosed)
    throw new UnreadableIndex(
      "the connection closed before the page was complete: it has neither a length nor </html>",
    );
  const rest = { meta: { "api-version": "1.0" } };
  return kind === "root"
    ? { kind, rest, projects: links.found.flatMap(linkedProject) }
    : { kind, rest, files: links.found.flatMap((link) => linkedFile(link, links.base)) };
}

/** A page may name its charset within these (HTML, "prescan a byte stream to determine its encoding"). */
const PRESCAN_BYTES = 1024;

async function* decodeHtml(
  bytes: AsyncIterable<Uint8Array>,
  contentType: string | undefined,
): AsyncGenerator<string> {
  let start = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  for await (const part of bytes) {
    if (decoder === undefined) {
      start = Buffer.concat([start, part]);
      if (start.length < PRESCAN_BYTES) continue;
      decoder = htmlDecoder(start, contentType);
      yield decoder.decode(start, { stream: true });
    } else yield decoder.decode(part, { stream: true });
  }
  if (decoder === undefined) yield htmlDecoder(start, contentType).decode(start);
  else yield decoder.decode();
}

/** By the byte order mark, else the answer's header, else the page itself. */
function htmlDecoder(start: Buffer, contentType: string | undefined): TextDecoder {
  const mark = [start.subarray(0, 2), start.subarray(0, 3)].map((bytes) => MARKS[bytes.toString("hex")]);
  const named = mark[0] ?? mark[1] ?? charsetIn(contentType);
  if (named !== undefined) return decoderOf(named) ?? new TextDecoder();
  const [, label] = META_CHARSET.exec(start.subarray(0, PRESCAN_BYTES).toString("latin1")) ?? [];
  // A page whose bytes could be read as ASCII is not in UTF-16, whatever it says.
  return decoderOf(label?.replace(/^utf-16.*/i, "utf-8")) ?? new TextDecoder();
}

const MARKS: Readonly<Record<string, string>> = { fffe: "utf-16le", feff: "utf-16be", efbbbf: "utf-8" };
const META_CHARSET = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'>;/]+)/i;

interface Link {
  attributes: Readonly<Record<string, string>>;
  text: string;
}

/** Links without an end tag are nested. The parser's time grows with the square of the depth. */
const DEPTH_MAX = 10_000;

class LinkReader {
  readonly found: Link[] = [];
  base: string;
  isClosed = false;
  readonly #linksMax: number;
  #open: Link | undefined;
  #depth = 0;

  constructor(url: string, linksMax: number) {
    this.base = url;
    this.#linksMax = linksMax;
  }

  onopentag(tag: string, attributes: Record<string, string>): void {
    if (++this.#depth > DEPTH_MAX)
      throw new UnreadableIndex(`the page is nested more than ${DEPTH_MAX} elements deep`);
    if (tag === "base" && attributes.href && URL.canParse(attributes.href, this.base)) {
      this.base = new URL(attributes.href, this.base).href;
    }
    if (tag === "meta" && attributes.name?.toLowerCase() === "pypi:repository-version") {
      checkIndexVersion(attributes.content);
    }
    if (tag !== "a" || attributes.href === undefined) return;
    if (this.found.length === this.#linksMax)
      throw new UnreadableIndex(`the page has more than ${this.#linksMax} links`);
    this.#open = { attributes, text: "" };
    this.found.push(this.#open);
  }

  ontext(text: string): void {
    if (this.#open !== undefined && this.#open.text.length < 1000) this.#open.text += text;
  }

  onclosetag(tag: string, isImplied: boolean): void {
    this.#depth--;
    if (tag === "html" && !isImplied) this.isClosed = true;
    if (tag === "a") this.#open = undefined;
  }
}

/** PEP 503: the text of the link is the project's name. A folder listing also links to its parent, which is no name. */
function linkedProject({ text }: Link): IndexProject[] {
  const name = text.trim().replace(/\/$/, "");
  return isProjectName(name) ? [{ name, rest: {} }] : [];
}

/** Takes the name from the link, because folder listings shorten its text. */
function linkedFile({ attributes }: Link, base: string): IndexFile[] {
  const href = attributes.href ?? "";
  const filename = decoded(href.replace(/[?#].*$/s, "").replace(/^.*\//s, ""));
  if (!DISTRIBUTION.test(filename)) return [];
  const file = indexFile({ filename, url: href, rest: restOf(attributes, href) }, base);
  return file === undefined ? [] : [file];
}

/** Pages may also link to a project's homepage or a parent folder. */
const DISTRIBUTION =
  /\.(?:whl|egg|zip|tar|tar\.(?:gz|bz2|xz|z|lz|lzma)|tgz|tbz|txz|tlz|exe|msi|rpm|deb|dmg)$/i;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Translates the attributes of PEP 503, 592, 658 and 714 to the keys of PEP 691. */
function restOf(attributes: Link["attributes"], href: string): Record<string, unknown> {
  const yanked = attributes["data-yanked"];
  const signed = attributes["data-gpg-sig"];
  const requires = attributes["data-requires-python"];
  const metadata = attributes["data-core-metadata"] ?? attributes["data-dist-info-metadata"];
  return {
    hashes: hashesOf(href.replace(/^[^#]*#?/s, "")),
    ...(requires !== undefined && { "requires-python": requires }),
    ...(yanked !== undefined && { yanked: yanked === "" ? true : yanked }),
    ...(signed !== undefined && { "gpg-sig": signed === "true" }),
    ...(metadata !== undefined && { "core-metadata": metadataOf(metadata) }),
  };
}

/** Ignores the other parts of a fragment: eggs and subdirectories. */
function hashesOf(fragment: string): Record<string, string> {
  const pairs = fragment.split("&").flatMap((pair) => {
    const [, name, value] = HASH.exec(pair) ?? [];
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const];
  });
  return Object.fromEntries(pairs);
}

/** The algorithms that every Python has. */
const HASH = /^(md5|sha1|sha224|sha256|sha384|sha512|sha3_(?:224|256|384|512)|blake2[bs])=([0-9a-f]+)$/i;

function metadataOf(value: string): unknown {
  const hashes = hashesOf(value);
  return Object.keys(hashes).length > 0 ? hashes : value === "true";
}

/** Parses the JSON form (PEP 691). Throws UnreadableIndex for any other text and for an unknown index version. */
export function readIndexJson(bytes: Buffer, { kind, url }: Omit<ReadOptions, "isDelimited">): IndexPage {
  const linksMax = LINKS_MAX[kind];
  if (countObjects(bytes) > OBJECTS_PER_LINK * linksMax + 1000)
    throw new UnreadableIndex(`the page has more than ${linksMax} entries`);
  const page = decodePage(bytes);
  if (isObject(page.meta)) checkIndexVersion(page.meta["api-version"]);
  const { files, projects, ...rest } = page;
  return kind === "root"
    ? { kind, rest, projects: entries(projects, linksMax).flatMap(listedProject) }
    : { kind, rest, files: entries(files, linksMax).flatMap((entry) => listedFile(entry, url)) };
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
    page = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new UnreadableIndex("the page has a JSON content type but is not valid JSON", {
      cause: error,
    });
  }
  if (!isObject(page)) throw new UnreadableIndex("the page is not a JSON object");
  return page;
}

function entries(list: unknown, linksMax: number): Record<string, unknown>[] {
  if (!Array.isArray(list)) throw new UnreadableIndex("the page has neither files nor projects");
  if (list.length > linksMax) throw new UnreadableIndex(`the page has more than ${linksMax} entries`);
  return list.filter(isObject);
}

function listedProject({ name, ...rest }: Record<string, unknown>): IndexProject[] {
  return typeof name === "string" && isProjectName(name) ? [{ name, rest }] : [];
}

function listedFile({ filename, url, ...rest }: Record<string, unknown>, base: string): IndexFile[] {
  if (typeof filename !== "string" || typeof url !== "string") return [];
  const file = indexFile({ filename, url, rest }, base);
  return file === undefined ? [] : [file];
}
