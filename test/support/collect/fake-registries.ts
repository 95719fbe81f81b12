import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { ImagePulls } from "../../../ingest/collect/docker/answer-docker.js";
import { createPullCounter } from "../../../ingest/collect/docker/count-pulls.js";
import type { RegistryRequest } from "../../../ingest/collect/docker/registry-client.js";
import type { FetchIndex } from "../../../ingest/collect/python/fetch-index.js";
import type { PythonIndex } from "../../../ingest/collect/python/python-index.js";
import type { CollectRequest } from "../../../ingest/collect/read-collect-request.js";

export interface RegistryReply {
  status?: number;
  headers?: IncomingHttpHeaders;
  body?: string;
}

interface FakeRegistries extends ImagePulls {
  asked: RegistryRequest[];
  failures: unknown[];
}

/** Registries in memory that all answer alike; an Error is a connection that fails. */
export function fakeRegistries(answer: () => RegistryReply | Error = () => ({})): FakeRegistries {
  const asked: RegistryRequest[] = [];
  const failures: unknown[] = [];
  const ask = async (request: RegistryRequest) => {
    asked.push(request);
    const answered = answer();
    if (answered instanceof Error) throw answered;
    const { status = 200, headers = {}, body = "" } = answered;
    const values: Record<string, string[]> = {};
    for (const [name, value = []] of Object.entries(headers)) values[name] = [value].flat();
    return { status, headers: values, body: Readable.from([Buffer.from(body)]) };
  };
  return {
    asked,
    failures,
    registries: { ask, [Symbol.dispose]: () => undefined },
    counter: createPullCounter({ now: () => 0 }),
    clientOf: (address) => address,
    via: "1.1 collector",
    onFailure: (error) => failures.push(error),
  };
}

/** The answer of an upstream to one request. */
export interface UpstreamAnswer {
  status?: number;
  headers?: IncomingHttpHeaders;
  body?: string | Iterable<Uint8Array>;
  /** The address after redirects, when it is another than the one asked for. */
  url?: string;
  /** Whether it says where its body ends; it does by default. */
  isDelimited?: boolean;
}

export interface FakeUpstream {
  fetchIndex: FetchIndex;
  /** Its requests, in order. */
  asked: { url: string; headers: Readonly<Record<string, string>> }[];
  /** How many bodies were given up unread. */
  discarded: number;
  /** From now on; an Error is a connection that fails. */
  answer: (url: string) => UpstreamAnswer | Error | Promise<UpstreamAnswer>;
}

/** An upstream in memory. */
export function fakeUpstream(answer: FakeUpstream["answer"]): FakeUpstream {
  const upstream: FakeUpstream = { fetchIndex, asked: [], discarded: 0, answer };

  async function fetchIndex(...[url, headers, signal]: Parameters<FetchIndex>) {
    upstream.asked.push({ url, headers });
    const answered = await Promise.race([upstream.answer(url), endOf(signal)]);
    if (answered instanceof Error) throw answered;
    const { status = 200, headers: sent = {}, body = "" } = answered;
    return {
      status,
      headers: { "content-type": "text/html", ...sent },
      url: answered.url ?? url,
      isDelimited: answered.isDelimited ?? true,
      body: bytesOf(typeof body === "string" ? [Buffer.from(body)] : body),
      discard: () => void upstream.discarded++,
    };
  }

  return upstream;
}

function endOf(signal: AbortSignal): Promise<Error> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(signal.reason as Error), { once: true });
  });
}

async function* bytesOf(parts: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* parts;
}

/** Where no upstream answers. */
export const NO_INDEX: PythonIndex = { read: async () => "unavailable", readPart: async () => undefined };

/** A request to the collector; a GET of `target` unless more is said. */
export function collectRequest(target: string, more: Partial<CollectRequest> = {}): CollectRequest {
  const [path = "", ...query] = target.split("?");
  return {
    method: "GET",
    target,
    path,
    query: query.join("?"),
    headers: {},
    host: "pkgs.example",
    address: "192.0.2.1",
    body: Buffer.alloc(0),
    ...more,
  };
}
