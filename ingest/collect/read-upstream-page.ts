import type { IncomingHttpHeaders } from "node:http";
import { INDEX_TYPES } from "./choose-index-form.js";
import { UnreadableIndex, type IndexPage } from "./index-page.js";
import type { FetchedIndex, FetchIndex } from "./python-index.js";
import { readIndexHtml } from "./read-index-html.js";
import { readIndexJson } from "./read-index-json.js";
import { servedPage, type ServedPage } from "./served-page.js";

/** A page as it was got from its upstream. */
export interface UpstreamPage {
  served: ServedPage;
  /** How large it came, decompressed. */
  bytes: number;
  /** The upstream's own, sent back when the page is checked. */
  etag: string | undefined;
  lastModified: string | undefined;
}

interface Asked {
  url: string;
  /** Empty for the root page. */
  project: string;
  /** What is known already; it stays when the upstream says that nothing changed. */
  copy: UpstreamPage | undefined;
  bytesMax: number;
}

/** Rejects when the upstream cannot be reached or answers with anything but a page, "not found" or "not modified". */
export async function readUpstreamPage(
  asked: Asked,
  { fetchIndex, signal }: { fetchIndex: FetchIndex; signal: AbortSignal },
): Promise<UpstreamPage | "not-found"> {
  const answer = await fetchIndex(asked.url, headersFor(asked), signal);
  if (answer.status === 200) return readPage(asked, answer);
  answer.discard();
  if (answer.status === 304 && asked.copy !== undefined) return asked.copy;
  if (answer.status === 404 || answer.status === 410) return "not-found";
  throw new UnreadableIndex(`the upstream answered ${answer.status}`);
}

/**
 * JSON says the most. A root page can have a million lines: of HTML they are read as they come, while JSON would hold
 * everything else up.
 */
function headersFor({ project, copy }: Asked): Record<string, string> {
  const { json, html, text } = INDEX_TYPES;
  return {
    Accept:
      project === "" ? `${html}, ${text};q=0.9, ${json};q=0.1` : `${json}, ${html};q=0.9, ${text};q=0.5`,
    ...(copy?.etag !== undefined && { "If-None-Match": copy.etag }),
    ...(copy?.lastModified !== undefined && { "If-Modified-Since": copy.lastModified }),
  };
}

async function readPage({ project, bytesMax }: Asked, answer: FetchedIndex): Promise<UpstreamPage> {
  const body = new CountedBody(answer.body, bytesMax);
  const read = { kind: project === "" ? "root" : "project", url: answer.url } as const;
  const page = await readForm(body, { ...read, form: formOf(answer) });
  const { etag, "last-modified": lastModified } = answer.headers;
  return { served: servedPage(page, project), bytes: body.bytes, etag, lastModified };
}

interface Form {
  kind: IndexPage["kind"];
  url: string;
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
  throw new UnreadableIndex(`the upstream answered with ${type === "" ? "no content type" : type}`);
}

function typeOf(headers: IncomingHttpHeaders): string {
  return (headers["content-type"] ?? "").replace(/;.*$/s, "").trim().toLowerCase();
}

/** Ends with UnreadableIndex behind `bytesMax`. */
class CountedBody implements AsyncIterable<Uint8Array> {
  bytes = 0;
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #bytesMax: number;

  constructor(body: AsyncIterable<Uint8Array>, bytesMax: number) {
    this.#body = body;
    this.#bytesMax = bytesMax;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const part of this.#body) {
      this.bytes += part.length;
      if (this.bytes > this.#bytesMax) throw new UnreadableIndex(`the page has over ${this.#bytesMax} bytes`);
      yield part;
    }
  }
}
