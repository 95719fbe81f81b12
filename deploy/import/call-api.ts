import { count, numbered } from "../../schemas/records/numbered.js";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";
import { pause } from "../../schemas/async/pause.js";
import { retry } from "../../schemas/async/retry.js";
import { type EventImport, linesDone } from "../../schemas/records/import-store.js";
import { StartFailure } from "../process/start-failure.js";
import { writeAll } from "./open-file.js";
import type { ProgressBar } from "./progress-bar.js";

export interface Service {
  url: string;
  token: string;
}

interface Call {
  method?: "GET" | "POST" | "DELETE";
  headers?: Record<string, string>;
  body?: AsyncIterable<Buffer>;
  signal?: AbortSignal;
}

/** The service refused: its own sentence. */
export class Refusal extends StartFailure {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** The service could not be reached, or the connection broke. */
class NoConnection extends StartFailure {}

/** By node:http, which says when a part is written. @throws Refusal unless the status is 2xx, NoConnection */
export async function callApi(service: Service, path: string, call: Call = {}): Promise<IncomingMessage> {
  const answer = await send(service, path, call);
  const { statusCode = 0 } = answer;
  if (statusCode >= 200 && statusCode < 300) return answer;
  throw refusalOf(answer, await text(answer));
}

export async function readJson<T>(service: Service, path: string, call: Call = {}): Promise<T> {
  return JSON.parse(await text(await callApi(service, path, call))) as T;
}

async function send(
  { url, token }: Service,
  path: string,
  { method = "GET", headers = {}, body, signal }: Call,
): Promise<IncomingMessage> {
  const target = new URL(url + path);
  const request = (target.protocol === "https:" ? https : http).request(target, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...headers },
    // A service that closes idle connections would be asked over one of them.
    agent: false,
    ...(signal && { signal }),
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
  if (body === undefined) request.end();
  else void writeAll(body, request);
  try {
    const answer = await answered;
    // A refusal need not wait for the whole body, and the rest is not sent.
    answer.once("end", () => request.destroy());
    return answer;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StartFailure) throw error;
    throw new NoConnection(`The service at ${url} cannot be reached: ${messageOf(error)}.`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

const WHICH_TOKEN =
  " The command uses the token from --token, MAINTAINER_TOKEN or maintainer-toolchain login, in this order.";

function refusalOf(answer: IncomingMessage, body: string): Refusal {
  const { statusCode = 0, headers } = answer;
  const { code = "", message } = parsed(body);
  const sentence =
    (message ?? `The service returned ${statusCode} ${answer.statusMessage ?? ""}`.trimEnd() + ".") +
    (statusCode === 401 ? WHICH_TOKEN : "");
  const seconds = Number(headers["retry-after"]);
  return new Refusal(statusCode, code, sentence, Number.isFinite(seconds) ? seconds : undefined);
}

function parsed(body: string): { code?: string; message?: string } {
  try {
    return JSON.parse(body) as { code?: string; message?: string };
  } catch {
    return {};
  }
}

const POLL_MS = { first: 100, max: 2_000 };

/** A restart of the service takes less. */
const UNREACHABLE_SECONDS_MAX = 300;
const RECONNECT_MS = 2_000;

interface Following {
  name: string;
  bar: ProgressBar;
  signal: AbortSignal;
}

/** Waits until an import has ended, and answers its record. Throws as `callApi`, and when the signal ends it. */
export async function followImport(
  service: Service,
  { owner, id }: Pick<EventImport, "owner" | "id">,
  { name, bar, signal }: Following,
): Promise<EventImport> {
  const path = `/v2/imports/${encodeURIComponent(owner)}/${id}`;
  for (let pollMs = POLL_MS.first; ; pollMs = Math.min(pollMs * 1.5, POLL_MS.max)) {
    const record = await retry(() => readJson<EventImport>(service, path, { signal }), {
      attempts: (UNREACHABLE_SECONDS_MAX * 1000) / RECONNECT_MS,
      backoff: { firstMs: RECONNECT_MS },
      signal,
      isTransient: (error) =>
        error instanceof NoConnection || (error instanceof Refusal && error.status >= 500),
      onFailure: () => bar.show(name, { detail: "the service does not respond; waiting" }),
    });
    if (record.status !== "importing") return record;
    const { lines_received: lines } = record;
    const done = linesDone(record);
    const share = lines === 0 ? undefined : done / lines;
    bar.show(`importing ${name}`, { share, detail: `${count(done)} of ${numbered(lines, "line")}` });
    await pause(pollMs, { signal });
    signal.throwIfAborted();
  }
}
