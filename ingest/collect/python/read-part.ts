import { limitConcurrency, Shares } from "../../../schemas/async/limit-concurrency.js";
import { limitTime } from "../../../schemas/async/limit-time.js";
import type { StreamedAnswer } from "../read-collect-request.js";
import type { FetchIndex } from "./fetch-index.js";

const PART_LIMITS = {
  /** Installers read 16 KiB at the end of a wheel, and then its metadata. */
  bytesMax: 1024 * 1024,
  /** From the request to the last byte that the client takes. */
  timeoutMs: 30_000,
  /** At once, for one client, one owner and in all. uv asks for 50 files at once; a client's wait for one another. */
  perClient: 8,
  perOwner: 64,
  inAll: 256,
};

export interface FilePart {
  url: string;
  ownerId: string;
  /** The address of who asks. */
  client: string;
  /** Aborts when the client has gone. */
  gone: AbortSignal;
  /** The header `Range`. */
  range: string;
}

/** Undefined for a part that is too long, that the upstream does not send as such, or that is one too many at the moment. */
export type ReadPart = (part: FilePart) => Promise<StreamedAnswer | undefined>;

/** Reads parts of upstreams' files. Rejects as `fetchIndex` does. */
export function createPartReader(fetchIndex: FetchIndex, over: Partial<typeof PART_LIMITS> = {}): ReadPart {
  const limits = { ...PART_LIMITS, ...over };
  const { bytesMax, inAll } = limits;
  const takeTurn = limitConcurrency({ perKey: limits.perClient, inAll });
  const places = new Shares({ perKey: limits.perOwner, inAll });
  return async (part) => {
    const { first, length } = spanOf(part);
    if (!(length >= 1 && length <= bytesMax)) return undefined;
    const limit = limitTime(limits.timeoutMs, { outer: part.gone });
    const { signal } = limit;
    const turn = await takeTurn([part.client], signal);
    const place = places.haveRoom([part.ownerId]) ? places.take([part.ownerId]) : undefined;
    const leave = () => {
      limit[Symbol.dispose]();
      turn[Symbol.dispose]();
      place?.[Symbol.dispose]();
    };
    signal.addEventListener("abort", leave, { once: true });
    let answer: StreamedAnswer | undefined;
    try {
      answer = place && (await fetchPart(part, { fetchIndex, first, bytesMax, signal }));
    } finally {
      if (answer === undefined) leave();
    }
    return answer && { ...answer, body: before(leave, answer.body) };
  };
}

/** The length is NaN for any other form. */
function spanOf({ range }: FilePart): { first: string; length: number } {
  const [, first = "", last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
  return { first, length: Number(last) - Number(first) + 1 };
}

interface FetchOptions {
  fetchIndex: FetchIndex;
  /** Of the bytes that are asked for. */
  first: string;
  bytesMax: number;
  signal: AbortSignal;
}

async function fetchPart(
  { url, range }: FilePart,
  { fetchIndex, first, bytesMax, signal }: FetchOptions,
): Promise<StreamedAnswer | undefined> {
  const asked = { Range: range, "Accept-Encoding": "identity" };
  const answer = await fetchIndex(url, asked, signal);
  const { status, headers, body } = answer;
  const { "content-range": place, "content-length": length, "content-encoding": encoding } = headers;
  const isAsked = place?.startsWith(`bytes ${first}-`) === true;
  if (status === 206 && isAsked && encoding === undefined && Number(length) <= bytesMax) {
    const sent = { "Content-Range": [place], "Content-Length": [String(length)] };
    return { status, headers: sent, body, events: [] };
  }
  answer.discard();
  return undefined;
}

async function* before(leave: () => void, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    leave();
  }
}
