import type { IncomingHttpHeaders } from "node:http";
import { setImmediate as othersHadTheirTurn } from "node:timers/promises";
import { INDEX_TYPES } from "./choose-index-form.js";
import type { FetchedIndex, FetchIndex } from "./fetch-index.js";
import { UnreadableIndex, type IndexPage } from "./index-page.js";
import type { BytesUnderWay } from "./limit-bytes.js";
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
  /** Takes the bytes of pages that are being read, this one's among them while it is. */
  underWay: BytesUnderWay;
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

async function readPage({ project, ...limits }: Asked, answer: FetchedIndex): Promise<UpstreamPage> {
  const body = new CountedBody(answer.body, limits);
  const read = { kind: project === "" ? "root" : "project", url: answer.url } as const;
  try {
    const page = await readForm(body, { ...read, form: formOf(answer) });
    // Reading a large page takes long enough; whoever asked for it may have it rendered after others were served.
    await othersHadTheirTurn();
    const { etag, "last-modified": lastModified } = answer.headers;
    return { served: servedPage(page, project), bytes: body.bytes, etag, lastModified };
  } finally {
    limits.underWay.giveUp(body.bytes);
  }
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

type Limits = Pick<Asked, "bytesMax" | "underWay">;

/** Ends with UnreadableIndex where a limit is passed. What it has read counts as under way until its reader is done. */
class CountedBody implements AsyncIterable<Uint8Array> {
  bytes = 0;
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #limits: Limits;

  constructor(body: AsyncIterable<Uint8Array>, limits: Limits) {
    this.#body = body;
    this.#limits = limits;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { bytesMax, underWay } = this.#limits;
    for await (const part of this.#body) {
      this.bytes += part.length;
      const fits = underWay.take(part.length);
      if (this.bytes > bytesMax) throw new UnreadableIndex(`the page has over ${bytesMax} bytes`);
      if (!fits) throw new UnreadableIndex("too many large pages are being read");
      yield part;
    }
  }
}
