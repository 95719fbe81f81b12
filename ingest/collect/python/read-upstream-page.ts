import type { IncomingHttpHeaders } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { INDEX_TYPES, servedPage, type ServedPage } from "./render-index-page.js";
import type { FetchedIndex, FetchIndex } from "./fetch-index.js";
import { UnreadableIndex, type IndexPage } from "./index-page.js";
import { readIndexHtml, readIndexJson } from "./read-index.js";
import { headersOfRefusal } from "../passed-headers.js";

/** A page as its upstream sent it. */
export interface UpstreamPage {
  served: ServedPage;
  bytes: number;
  /** The upstream's validators, sent back to revalidate the page. */
  etag: string | undefined;
  lastModified: string | undefined;
}

interface WantedPage {
  url: string;
  project: string;
  /** The cached copy; stays in use when the upstream answers "not modified". */
  copy: UpstreamPage | undefined;
  bytesMax: number;
  /** Adds to the bytes of pages that are being read, or gives them back. Answers whether they are within the limits. */
  countBytes: (bytes: number) => boolean;
}

/** An upstream's own answer 4xx: the project does not exist, needs a login, is blocked, or is asked for too often. */
export interface IndexRefusal {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Empty for one that is longer than installers show. */
  body: Buffer;
}

export function isRefusal(answer: object): answer is IndexRefusal {
  return "status" in answer;
}

/** Whether the upstream would give the page later: then a copy is as good as before. */
export function isTemporary({ status }: IndexRefusal): boolean {
  return status === 408 || status === 425 || status === 429;
}

/** Rejects when the upstream cannot be reached or answers with anything but a page, a refusal or "not modified". */
export async function readUpstreamPage(
  wanted: WantedPage,
  { fetchIndex, signal }: { fetchIndex: FetchIndex; signal: AbortSignal },
): Promise<UpstreamPage | IndexRefusal> {
  const answer = await fetchIndex(wanted.url, headersFor(wanted), signal);
  if (answer.status === 200) return readPage(wanted, answer);
  if (answer.status >= 400 && answer.status < 500) return readRefusal(answer);
  answer.discard();
  if (answer.status === 304 && wanted.copy !== undefined) return wanted.copy;
  throw new UnreadableIndex(`the upstream returned ${answer.status}`);
}

const REFUSAL_BYTES_MAX = 8 * 1024;

/** With its body, if that is short and comes whole: the status and the headers say enough without. */
async function readRefusal(answer: FetchedIndex): Promise<IndexRefusal> {
  const { status, headers, body } = answer;
  const passed = headersOfRefusal(headers);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      size += part.length;
      if (size > REFUSAL_BYTES_MAX) break;
      parts.push(part);
    }
    if (size <= REFUSAL_BYTES_MAX) return { status, headers: passed, body: Buffer.concat(parts) };
  } catch {
    answer.discard();
  }
  const { "content-type": _type, ...rest } = passed;
  return { status, headers: rest, body: Buffer.alloc(0) };
}

/**
 * Prefers JSON, which has the most metadata, but not for root pages, which can have a million entries: HTML
 * is parsed as it arrives, and parsing so much JSON would block other requests.
 */
function headersFor({ project, copy }: WantedPage): Record<string, string> {
  const { json, html, text } = INDEX_TYPES;
  return {
    Accept:
      project === "" ? `${html}, ${text};q=0.9, ${json};q=0.1` : `${json}, ${html};q=0.9, ${text};q=0.5`,
    ...(copy?.etag !== undefined && { "If-None-Match": copy.etag }),
    ...(copy?.lastModified !== undefined && { "If-Modified-Since": copy.lastModified }),
  };
}

async function readPage({ project, ...limits }: WantedPage, answer: FetchedIndex): Promise<UpstreamPage> {
  const body = new CountedBody(answer.body, limits);
  const { url, isDelimited } = answer;
  const read = { kind: project === "" ? "root" : "project", url, isDelimited } as const;
  try {
    const contentType = answer.headers["content-type"];
    const page = await readForm(body, { ...read, contentType, form: formOf(answer) });
    // A large page takes long to parse. Other requests are served before it is rendered.
    await nextTurn();
    const { etag, "last-modified": lastModified } = answer.headers;
    return { served: servedPage(page, project), bytes: body.bytes, etag, lastModified };
  } finally {
    limits.countBytes(-body.bytes);
  }
}

interface Form {
  kind: IndexPage["kind"];
  url: string;
  isDelimited: boolean;
  contentType: string | undefined;
  form: "json" | "html";
}

async function readForm(body: CountedBody, { form, ...options }: Form): Promise<IndexPage> {
  if (form === "html") return readIndexHtml(body, options);
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return readIndexJson(Buffer.concat(parts), options);
}

function formOf(answer: FetchedIndex): "json" | "html" {
  const type = typeOf(answer.headers);
  if (type === INDEX_TYPES.json || type === "application/json") return "json";
  if (type === INDEX_TYPES.html || type === INDEX_TYPES.text) return "html";
  answer.discard();
  throw new UnreadableIndex(`the upstream returned ${type === "" ? "no content type" : type}`);
}

function typeOf(headers: IncomingHttpHeaders): string {
  return (headers["content-type"] ?? "").replace(/;.*$/s, "").trim().toLowerCase();
}

type Limits = Pick<WantedPage, "bytesMax" | "countBytes">;

/** Throws UnreadableIndex above a limit. Its bytes are counted until the page is parsed. */
class CountedBody implements AsyncIterable<Uint8Array> {
  bytes = 0;
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #limits: Limits;

  constructor(body: AsyncIterable<Uint8Array>, limits: Limits) {
    this.#body = body;
    this.#limits = limits;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { bytesMax, countBytes } = this.#limits;
    for await (const part of this.#body) {
      this.bytes += part.length;
      const fits = countBytes(part.length);
      if (this.bytes > bytesMax) throw new UnreadableIndex(`the page is larger than ${bytesMax} bytes`);
      if (!fits) throw new UnreadableIndex("too many large pages are being read at the same time");
      yield part;
    }
  }
}
