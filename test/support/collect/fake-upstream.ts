import type { IncomingHttpHeaders } from "node:http";
import type { FetchIndex } from "../../../ingest/collect/python/fetch-index.js";

/** The answer of an upstream to one request. */
export interface UpstreamAnswer {
  status?: number;
  headers?: IncomingHttpHeaders;
  body?: string | readonly Uint8Array[];
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

async function* bytesOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
