import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { pause } from "../../schemas/async/pause.js";
import type { AggregateV1 } from "../../schemas/contracts/aggregate.js";
import type { EventImport } from "../../schemas/records/import-store.js";

/** A client of the API with one account's token, for the demo, tests and benchmarks. Throws unless the status is 2xx. */
export interface ApiClient {
  readonly url: string;
  readonly token: string;
  request(path: string, options?: ApiRequest): Promise<Response>;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
  /** Starts an import. Resolves when the server has received the whole body. */
  importBody(path: string, body: ImportBody, options?: { gzip?: boolean }): Promise<EventImport>;
  /** Polls until the import has ended; throws after `timeoutMs`. */
  pollToDone(started: EventImport, options?: PollOptions): Promise<EventImport>;
  /** The aggregates of an organization from `startDate` up to `endDate`, exclusive. */
  readAggregates(organization: string, range: { startDate: string; endDate: string }): Promise<AggregateV1[]>;
  readLines(path: string): Promise<string[]>;
}

export interface ApiRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | Readable;
}

export type ImportBody = Buffer | string | Iterable<Buffer> | AsyncIterable<Buffer>;

export interface PollOptions {
  timeoutMs?: number;
  pollMs?: number;
  onProgress?: (record: EventImport) => void;
}

const POLL_MS = 100;
const POLL_TIMEOUT_MS = 600_000;

export function connectApi(url: string, token: string): ApiClient {
  const request = (path: string, { headers = {}, body, ...rest }: ApiRequest = {}) =>
    fetch(new URL(path, url), {
      ...rest,
      headers: { ...ONE_REQUEST_PER_CONNECTION, Authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body: bodyOf(body), duplex: "half" }),
    });
  const get = async <T>(path: string) => parsed<T>(await request(path), path);
  return {
    url,
    token,
    request,
    get,
    async post(path, body) {
      const headers = { "Content-Type": "application/json" };
      return parsed(await request(path, { method: "POST", headers, body: JSON.stringify(body) }), path);
    },
    async importBody(path, body, { gzip = false } = {}) {
      const plain = readableOf(body);
      const headers = { "Content-Type": "application/ndjson", ...(gzip && { "Content-Encoding": "gzip" }) };
      const sent = gzip ? plain.pipe(createGzip({ level: 1 })) : plain;
      return parsed(await request(path, { method: "POST", headers, body: sent }), path);
    },
    pollToDone: (started, options = {}) =>
      pollToDone(() => get(`/v2/imports/${encodeURIComponent(started.owner)}/${started.id}`), options),
    async readAggregates(organization, { startDate, endDate }) {
      const query = `startDate=${startDate}&endDate=${endDate}`;
      const path = `/v1/organizations/${encodeURIComponent(organization)}/aggregates?${query}`;
      const text = await textOf(await request(path), path);
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as AggregateV1);
    },
    readLines: async (path) => (await textOf(await request(path), path)).split("\n").filter(Boolean),
  };
}

// A process that computes for seconds does not notice that the server closed an idle connection, and would use it.
const ONE_REQUEST_PER_CONNECTION = { Connection: "close" };

function readableOf(body: ImportBody): Readable {
  return Readable.from(Buffer.isBuffer(body) || typeof body === "string" ? [Buffer.from(body)] : body);
}

/** A body for `fetch`, whose types are those of browsers. */
function bodyOf(body: string | Buffer | Readable): BodyInit {
  return (body instanceof Readable ? Readable.toWeb(body) : body) as BodyInit;
}

async function pollToDone(read: () => Promise<EventImport>, options: PollOptions): Promise<EventImport> {
  const { timeoutMs = POLL_TIMEOUT_MS, pollMs = POLL_MS, onProgress } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const record = await read();
    onProgress?.(record);
    if (record.status !== "importing") return record;
    if (performance.now() > deadline) {
      throw new Error(
        `import ${record.id} is not done after ${timeoutMs / 1000} s: ${JSON.stringify(record)}`,
      );
    }
    await pause(pollMs);
  }
}

async function parsed<T>(response: Response, path: string): Promise<T> {
  return JSON.parse(await textOf(response, path)) as T;
}

async function textOf(response: Response, path: string): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 1000)}`);
  return text;
}
