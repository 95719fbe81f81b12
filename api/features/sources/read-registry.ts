import type { SourceKind } from "../../../schemas/contracts/source.js";
import type { FetchIndex, FetchedIndex } from "../../../ingest/collect/python/fetch-index.js";
import { limitTime } from "../../../schemas/async/limit-time.js";
import { pause } from "../../../schemas/async/pause.js";
import { PRODUCT } from "../../base/http/product.js";
import type { Postgres } from "../../base/postgres/query.js";
import {
  type Ask,
  type Asked,
  type Count,
  type Counter,
  type Published,
  UnexpectedAnswer,
} from "./registries/registry.js";
import { answeredWith, fewerWanted } from "./fewer-wanted.js";
import { REGISTRIES } from "./registries/registries.js";
import { pauseRegistry, readRegistryPause, takeRegistryTurn } from "./registry-turns.js";

/** How registries are reached: at their own addresses, or at those that the operator names instead. */
export interface RegistryAccess {
  /** Guarded. */
  fetch: (kind: SourceKind) => FetchIndex;
  urls: Readonly<Partial<Record<SourceKind, string>>>;
  githubToken?: string | undefined;
  /** Between two requests to one registry, of all processes together. */
  pauseMs?: number;
}

export interface RegistryDeps {
  pg: Postgres;
  access: RegistryAccess;
}

export interface RegistryCounts {
  counts: Count[];
  counters: Counter[];
  releases: Published[];
  /** Of an answer that was the only one, for the next run. */
  etag?: string;
}

interface Named {
  kind: SourceKind;
  name: string;
}

export interface AskedOnce extends Named {
  today: string;
  /** Of the run before. */
  etag?: string | undefined;
  signal: AbortSignal;
}

/** The registry says that it has no such thing. */
export class UnknownName extends Error {}

/** The registry gave no counts this time. */
export class RegistryFailure extends Error {
  constructor(
    message: string,
    /** When it may be asked again, where it wants fewer requests. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

const ANSWER_BYTES_MAX = 10 * 1024 * 1024;
/** Of all answers of a run: more are not counts of one thing. */
const COUNTS_MAX = 100_000;
const REQUEST_MS = 30_000;
/** One request a second is what crates.io asks for, and 3,600 an hour are below the 5,000 of a token of GitHub. */
const PAUSE_MS = 1_000;
/** A run has one request at a time, so that only few can be before it. */
const WAIT_MS_MAX = 60_000;

/**
 * Everything that the registry says of this name, or "unchanged". Requests are sent one after the other.
 * @throws UnknownName, RegistryFailure, UnexpectedAnswer
 */
export async function readRegistry(
  deps: RegistryDeps,
  { kind, name, today, etag, signal }: AskedOnce,
): Promise<RegistryCounts | "unchanged"> {
  const registry = REGISTRIES[kind];
  const asked: Asked = { name, today, hasToken: tokenFor(deps.access, kind) !== undefined };
  const waiting = registry.ask(asked);
  const isOnly = waiting.length === 1;
  const found: RegistryCounts = { counts: [], counters: [], releases: [] };
  for (let request = 0, ask = waiting.shift(); ask !== undefined; request++, ask = waiting.shift()) {
    const of = { kind, name, ask, etag: isOnly ? etag : undefined, waitMsMax: WAIT_MS_MAX, signal };
    const answer = await askRegistry(deps, of, readAnswer);
    if (answer === "unchanged") return "unchanged";
    if (answer === "missing") continue;
    const { counts = [], counters = [], releases = [], more } = registry.read(answer.json, ask, asked);
    found.counts = found.counts.concat(counts);
    found.counters = found.counters.concat(counters);
    found.releases = found.releases.concat(releases);
    if (found.counts.length + found.counters.length > COUNTS_MAX)
      throw new UnexpectedAnswer(`The response has more than ${COUNTS_MAX} counts.`);
    if (more !== undefined) waiting.unshift(more);
    else if (isOnly && request === 0 && answer.etag !== undefined) found.etag = answer.etag;
  }
  return found;
}

/**
 * Asks for the status alone of the first request of a run: the body is not read.
 * @throws UnknownName where the registry says so, RegistryFailure where it could not be asked before the signal ends
 */
export async function requireKnownName(
  deps: RegistryDeps,
  { kind, name, today, waitMsMax, signal }: AskedOnce & { waitMsMax: number },
): Promise<void> {
  const [ask] = REGISTRIES[kind].ask({ name, today, hasToken: false });
  if (ask === undefined) return;
  await askRegistry(deps, { kind, name, ask, waitMsMax, signal }, async (answer) => answer.discard());
}

interface OneAsk extends Named {
  ask: Ask;
  etag?: string | undefined;
  waitMsMax: number;
  signal: AbortSignal;
}

/** Sends one request, when it is its turn. `read` gets an answer with status 200. */
async function askRegistry<T>(
  deps: RegistryDeps,
  asked: OneAsk,
  read: (answer: FetchedIndex) => Promise<T>,
): Promise<T | "unchanged" | "missing"> {
  const { kind, name, ask, etag } = asked;
  await awaitTurn(deps, asked);
  using limit = limitTime(REQUEST_MS, { outer: asked.signal });
  const { signal } = limit;
  const reaching = { ...asked, limited: signal };
  const answer = await reach(reaching, () => send(deps.access, { ...asked, signal }));
  const { status } = answer;
  const fewer = fewerWanted(answer, asked);
  if (fewer !== undefined) await pauseRegistry(deps.pg, { kind, ...fewer });
  if (status === 200) return await reach(reaching, () => read(answer));
  answer.discard();
  if (status === 304 && etag !== undefined) return "unchanged";
  if (status === 404 && !ask.isOptional)
    throw new UnknownName(`${kind} has no ${REGISTRIES[kind].noun} named ${name}.`);
  if (fewer !== undefined) throw new RegistryFailure(fewer.reason, fewer.durationMs);
  if (ask.isOptional && status >= 400 && status < 500) return "missing";
  throw new RegistryFailure(answeredWith(kind, status));
}

function send(access: RegistryAccess, { kind, ask, etag, signal }: OneAsk): Promise<FetchedIndex> {
  const token = tokenFor(access, kind);
  const headers = {
    Accept: "application/json",
    "User-Agent": USER_AGENT,
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(etag !== undefined && { "If-None-Match": etag }),
  };
  return access.fetch(kind)((access.urls[kind] ?? REGISTRIES[kind].url) + ask.path, headers, signal);
}

async function reach<T>(
  { kind, signal, limited }: OneAsk & { limited: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnexpectedAnswer) throw error;
    signal.throwIfAborted();
    if (limited.aborted) throw new RegistryFailure(`${kind} did not respond within ${REQUEST_MS / 1000} s.`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new RegistryFailure(`${kind} could not be reached: ${reason.slice(0, 300)}`);
  }
}

/** @throws RegistryFailure while the registry is paused, and where too many are before this one */
async function awaitTurn({ pg, access }: RegistryDeps, { kind, waitMsMax, signal }: OneAsk): Promise<void> {
  const intervalMs = access.pauseMs ?? PAUSE_MS;
  const waitMs = await takeRegistryTurn(pg, { kind, intervalMs, waitMsMax });
  if (waitMs !== undefined) await pause(waitMs, { signal });
  signal.throwIfAborted();
  if (waitMs !== undefined) return;
  const paused = await readRegistryPause(pg, kind);
  if (paused === undefined)
    throw new RegistryFailure(`Too many requests to ${kind} are waiting. Try again later.`);
  throw new RegistryFailure(paused.reason, Math.max(0, paused.until.getTime() - Date.now()));
}

async function readAnswer(answer: FetchedIndex): Promise<{ json: unknown; etag: string | undefined }> {
  return { json: await readJson(answer), etag: answer.headers.etag };
}

async function readJson(answer: FetchedIndex): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body) {
    parts.push(part);
    size += part.length;
    if (size <= ANSWER_BYTES_MAX) continue;
    answer.discard();
    throw new UnexpectedAnswer(`The response is larger than ${ANSWER_BYTES_MAX / 1024 / 1024} MiB.`);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString()) as unknown;
  } catch {
    const type = answer.headers["content-type"]?.slice(0, 100) ?? "without a type";
    throw new UnexpectedAnswer(`The response is not JSON (${type}).`);
  }
}

function tokenFor({ githubToken }: RegistryAccess, kind: SourceKind): string | undefined {
  return REGISTRIES[kind].takesToken ? githubToken : undefined;
}

const USER_AGENT = `maintainer-toolchain/${PRODUCT.version} (sources)`;
