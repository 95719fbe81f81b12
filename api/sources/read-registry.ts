import type { SourceKind } from "../../schemas/contracts/source.js";
import type { FetchIndex, FetchedIndex } from "../../ingest/collect/python/fetch-index.js";
import { pause } from "../../schemas/async/pause.js";
import { PRODUCT } from "../http/product.js";
import {
  type Ask,
  type Asked,
  type Count,
  type Counter,
  type Published,
  UnexpectedAnswer,
} from "./registries/registry.js";
import { REGISTRIES } from "./registries/registries.js";

/** How registries are reached: at their own addresses, or at those that the operator names instead. */
export interface RegistryAccess {
  /** Guarded. */
  fetch: (kind: SourceKind) => FetchIndex;
  urls: Readonly<Partial<Record<SourceKind, string>>>;
  githubToken?: string | undefined;
  pauseMs?: number;
}

export interface RegistryCounts {
  counts: Count[];
  counters: Counter[];
  releases: Published[];
  /** Of an answer that was the only one, for the next run. */
  etag?: string;
}

export interface AskedOnce {
  kind: SourceKind;
  name: string;
  today: string;
  /** Of the run before. */
  etag?: string | undefined;
  /** Whether only the first answer counts. */
  isLook?: boolean;
  signal: AbortSignal;
}

/** The registry says that it has no such thing. */
export class UnknownName extends Error {}

/** The registry gave no counts this time. */
export class RegistryFailure extends Error {
  constructor(
    message: string,
    /** When it wants to be asked again, where it says so. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

const ANSWER_BYTES_MAX = 10 * 1024 * 1024;
const REQUEST_MS = 30_000;
/** Between two requests for one source. crates.io asks for at most one a second. */
const PAUSE_MS = 1_000;

/**
 * Everything that the registry says of this name, or "unchanged". Requests are sent one after the other.
 * @throws UnknownName, RegistryFailure, UnexpectedAnswer
 */
export async function readRegistry(
  access: RegistryAccess,
  { kind, name, today, etag, isLook, signal }: AskedOnce,
): Promise<RegistryCounts | "unchanged"> {
  const registry = REGISTRIES[kind];
  const asked: Asked = { name, today, hasToken: tokenFor(access, kind) !== undefined };
  const waiting = registry.ask(asked);
  const isOnly = waiting.length === 1;
  const found: RegistryCounts = { counts: [], counters: [], releases: [] };
  for (let request = 0, ask = waiting.shift(); ask !== undefined; request++, ask = waiting.shift()) {
    if (request > 0) await pause(access.pauseMs ?? PAUSE_MS, { signal });
    const answer = await askRegistry(access, { kind, name, ask, etag: isOnly ? etag : undefined, signal });
    if (answer === "unchanged") return "unchanged";
    if (answer === "missing") continue;
    if (isLook) break;
    const { counts = [], counters = [], releases = [], more } = registry.read(answer.json, ask, asked);
    found.counts.push(...counts);
    found.counters.push(...counters);
    found.releases.push(...releases);
    if (more !== undefined) waiting.unshift(more);
    else if (isOnly && request === 0 && answer.etag !== undefined) found.etag = answer.etag;
  }
  return found;
}

interface OneAsk extends Omit<AskedOnce, "today"> {
  ask: Ask;
}

type Answer = { json: unknown; etag?: string | undefined } | "unchanged" | "missing";

async function askRegistry(
  access: RegistryAccess,
  { kind, name, ask, etag, signal }: OneAsk,
): Promise<Answer> {
  const token = tokenFor(access, kind);
  const headers = {
    Accept: "application/json",
    "User-Agent": USER_AGENT,
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(etag !== undefined && { "If-None-Match": etag }),
  };
  const url = (access.urls[kind] ?? REGISTRIES[kind].url) + ask.path;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
  try {
    const answer = await access.fetch(kind)(url, headers, limited);
    const { status } = answer;
    if (status === 200) return { json: await readJson(answer), etag: answer.headers.etag };
    answer.discard();
    if (status === 304 && etag !== undefined) return "unchanged";
    if (ask.isOptional && status >= 400 && status < 500) return "missing";
    throw failureOf(answer, { kind, name });
  } catch (error) {
    if (error instanceof UnknownName || error instanceof RegistryFailure || error instanceof UnexpectedAnswer)
      throw error;
    signal.throwIfAborted();
    if (limited.aborted) throw new RegistryFailure(`${kind} did not answer within ${REQUEST_MS / 1000} s.`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new RegistryFailure(`${kind} could not be reached: ${reason.slice(0, 300)}`);
  }
}

function failureOf(answer: FetchedIndex, { kind, name }: Pick<AskedOnce, "kind" | "name">): Error {
  const { status, headers } = answer;
  if (status === 404) return new UnknownName(`${kind} has no ${REGISTRIES[kind].noun} ${name}.`);
  const retryAfterMs = retryAfter(headers);
  const isLimit = status === 429 || (status === 403 && retryAfterMs !== undefined);
  const sentence = isLimit
    ? `${kind} wants fewer requests (${status}).`
    : `${kind} answered with status ${status}.`;
  return new RegistryFailure(sentence, retryAfterMs);
}

/** Seconds or a date (RFC 9110, 10.2.3), or GitHub's time at which its limit ends. */
function retryAfter(headers: FetchedIndex["headers"]): number | undefined {
  const text = headers["retry-after"];
  if (text !== undefined) return /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : untilDate(Date.parse(text));
  if (headers["x-ratelimit-remaining"] !== "0") return undefined;
  return untilDate(Number(headers["x-ratelimit-reset"]) * 1_000);
}

function untilDate(time: number): number | undefined {
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}

async function readJson(answer: FetchedIndex): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body) {
    parts.push(part);
    size += part.length;
    if (size <= ANSWER_BYTES_MAX) continue;
    answer.discard();
    throw new UnexpectedAnswer(`The answer is larger than ${ANSWER_BYTES_MAX / 1024 / 1024} MiB.`);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString()) as unknown;
  } catch {
    const type = answer.headers["content-type"]?.slice(0, 100) ?? "without a type";
    throw new UnexpectedAnswer(`The answer is no JSON (${type}).`);
  }
}

/** Only GitHub takes one, and nobody else gets it. */
function tokenFor({ githubToken }: RegistryAccess, kind: SourceKind): string | undefined {
  return kind === "github-releases" ? githubToken : undefined;
}

const USER_AGENT = `maintainer-toolchain/${PRODUCT.version} (sources)`;
