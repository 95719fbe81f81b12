import { retry } from "../../schemas/async/retry.js";
import { Problem } from "../../schemas/problem.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { packChunk } from "../../schemas/records/chunk-codec.js";
import type { EventLog } from "../../schemas/records/event-log.js";
import { LINE_BYTES_MAX, SMALL_IMPORT_CHUNKS } from "../../schemas/records/import-line.js";
import {
  UPLOAD_LEASE_SECONDS,
  type EventImport,
  type Received,
  type CompletedUpload,
} from "../../schemas/records/import-store.js";
import { type Codec, encodeRawChunk, type RawChunk } from "../../schemas/records/raw-chunk.js";
import { UploadAborted, type ActiveUpload, type ActiveUploads, type Arrival } from "./active-uploads.js";
import { choosePartitions } from "./choose-partitions.js";
import { cutFormat, type FormattedChunk } from "./cut-format.js";
import { throttleOnLag } from "./throttle-imports.js";
import { readWhileSent } from "./read-while-sent.js";
import { WrongFormat } from "./wrong-format.js";

export const CHUNK_LIMITS = { bytesTarget: 512 * 1024, lineBytesMax: LINE_BYTES_MAX };
/** The share to which any encoding shrinks text of events, at least. */
const SHRINKS_TO = 1 / 4;
const LEASE_RENEWAL_MS = 5_000;
const RIGHT_CHECK_MS = 5_000;
const INTERRUPT_BACKOFF = { firstMs: 500 };
const INTERRUPT_ATTEMPTS = {
  attempts: (UPLOAD_LEASE_SECONDS * 1000) / INTERRUPT_BACKOFF.firstMs,
  backoff: INTERRUPT_BACKOFF,
  ref: false,
};
/** Appends in flight. The next chunk is read while earlier ones are compressed and written. */
const APPENDS_AT_ONCE = 4;

export type ImportTarget = Pick<
  RawChunk,
  "ownerId" | "accountId" | "artifactKind" | "artifactId" | "importId" | "format" | "path"
>;

export interface ReceiveDependencies {
  log: EventLog;
  /** Compression of chunks; `none` by default. */
  codec?: Codec | undefined;
  /** Statements of api/features/imports/uploads.ts. */
  uploads: {
    /** Renews the lease, without which the upload counts as interrupted. False if the import was aborted meanwhile. */
    renewLease(importId: string, received: Received): Promise<boolean>;
    /** The whole body is in the log, and settlement will finish the import. Undefined if it was aborted meanwhile. */
    completeUpload(upload: CompletedUpload): Promise<EventImport | undefined>;
    /** The body broke off: aborts the import and retracts its events. */
    interruptUpload(importId: string, upload: Received & { reason: string }): Promise<void>;
    /** Where the lines of an import lie that was aborted meanwhile. */
    putLogEnds(importId: string, logEnds: Received["logEnds"]): Promise<void>;
    /** The body is in another format: the import never began. */
    removeUpload(importId: string): Promise<void>;
  };
  /** Throws a Problem once the caller may not import any more. Asked while the body goes on, and before its end. */
  requireRight?: (() => Promise<void>) | undefined;
  active: ActiveUploads;
  /** Counted on while the body is read. Lines and stamps are added here, bytes where it is decompressed. */
  received?: Received | undefined;
  /** Receipt stamps; see `receiptClock`. */
  now: () => number;
  /** How long a sender may be idle; two minutes by default. */
  idleMsMax?: number | undefined;
  /** Whether the head of the request tells that the body has more chunks than a small import; see `isKnownLarge`. */
  isLarge?: boolean | undefined;
  /** Ended when the first chunk is in the log. */
  arrival?: Pick<Arrival, "end"> | undefined;
  /** Waits while there is other work for this thread. */
  throttle?: (() => Promise<void>) | undefined;
  /** Waits while the owner has too much in the log; see `awaitRoom`. */
  untilRoom?: UntilRoom | undefined;
}

export type UntilRoom = (upload: { ownerId: string; signal: AbortSignal }) => Promise<void>;

/**
 * Resolves when all chunks are durable and the upload is recorded as complete. Reads no faster than the log
 * appends, and throttles between chunks. @throws the error of the body or the log; the import is then marked
 * as interrupted, or removed where the body is in another format
 */
export async function receiveImport(
  body: AsyncIterable<Buffer>,
  target: ImportTarget,
  dependencies: ReceiveDependencies,
): Promise<EventImport> {
  const { log, codec = "none", uploads, active, now, idleMsMax, throttle = throttleOnLag } = dependencies;
  const {
    received = { bytes: 0, bytesUnpacked: 0, lines: 0, stamp: 0, logEnds: [] },
    isLarge = false,
    arrival,
  } = dependencies;
  const { untilRoom = async () => undefined } = dependencies;
  const checkRight = rightCheck(dependencies.requireRight);
  const { importId, ownerId } = target;
  using upload = active.open(importId);
  using _lease = startLeaseRenewal(upload, () => uploads.renewLease(importId, received));
  using _right = startRightChecks(upload, checkRight);
  try {
    const { signal } = upload;
    const sent = readWhileSent(body, { signal, idleMsMax });
    const room = () => untilRoom({ ownerId, signal });
    const appending = { log, codec, now, throttle, untilRoom: room, received, isLarge, arrival };
    const chunksTotal = await appendChunks(sent, target, appending);
    await checkRight();
    passFaultPoint("before-upload-complete");
    const completed = await uploads.completeUpload({ importId, ownerId, chunksTotal, ...received });
    passFaultPoint("before-answer");
    if (completed === undefined) throw new UploadAborted(importId);
    return completed;
  } catch (error) {
    if (error instanceof WrongFormat) await interrupt(() => uploads.removeUpload(importId));
    else if (error instanceof UploadAborted)
      await interrupt(() => uploads.putLogEnds(importId, received.logEnds));
    else await interrupt(() => uploads.interruptUpload(importId, { reason: reasonOf(error), ...received }));
    throw error;
  }
}

/** Whether a body has more chunks than a small import, by its head alone; false where the head does not tell its size. */
export function isKnownLarge(head: { contentLength: string; contentEncoding: string }): boolean {
  const shrinksTo = ["", "identity"].includes(head.contentEncoding.trim().toLowerCase()) ? 1 : SHRINKS_TO;
  return Number(head.contentLength) > SMALL_IMPORT_CHUNKS * CHUNK_LIMITS.bytesTarget * shrinksTo;
}

/** Renews the lease regularly, however slow the body is. A lost lease means that the import was aborted elsewhere. */
function startLeaseRenewal(upload: ActiveUpload, renewLease: () => Promise<boolean>): Disposable {
  const renew = async () => {
    if (!(await renewLease())) upload.abort();
  };
  // A failed renewal is no reason to stop, because the lease lasts for several renewals.
  const timer = setInterval(() => void renew().catch(() => undefined), LEASE_RENEWAL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A database that fails says nothing about rights. */
function rightCheck(requireRight: () => Promise<void> = async () => undefined): () => Promise<void> {
  return async () => {
    try {
      await requireRight();
    } catch (error) {
      if (error instanceof Problem && error.code !== "unavailable") throw error;
    }
  };
}

/** One check at a time. */
function startRightChecks(upload: ActiveUpload, checkRight: () => Promise<void>): Disposable {
  let checking: Promise<void> | undefined;
  const timer = setInterval(() => {
    const check = () => checkRight().catch((error: Error) => upload.abort(error));
    checking ??= check().finally(() => (checking = undefined));
  }, RIGHT_CHECK_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Without the database the sender need not wait: the record is retried in the background, and later the
 * expired lease has the same effect.
 */
async function interrupt(record: () => Promise<void>): Promise<void> {
  await record().catch(() => void retry(record, INTERRUPT_ATTEMPTS).catch(() => undefined));
}

interface AppendDependencies extends Pick<ReceiveDependencies, "log" | "now" | "arrival"> {
  received: Received;
  codec: Codec;
  isLarge: boolean;
  throttle: () => Promise<void>;
  untilRoom: () => Promise<void>;
}

async function appendChunks(
  body: AsyncIterable<Buffer>,
  target: ImportTarget,
  { log, codec, now, throttle, untilRoom, received, isLarge, arrival }: AppendDependencies,
): Promise<number> {
  const inFlight = new Set<Promise<void>>();
  const partitionOf = choosePartitions(log.partitions, { ownerId: target.ownerId, isLarge });
  let sequence = 0;
  try {
    for await (const chunk of cutFormat(body, { ...CHUNK_LIMITS, format: target.format })) {
      // A body of one chunk takes no longer than the wait would.
      if (chunk.firstLine > 1) await throttle();
      // Blank lines are counted only, and all but vanish where they are most of a chunk.
      if (chunk.events === 0) continue;
      await untilRoom();
      const isBlank = chunk.blankBytes > chunk.bytes.length / 2;
      // The receipt stamp orders overrides: two chunks of an import never have the same.
      const stamp = Math.max(received.stamp + 1, now());
      received.stamp = stamp;
      received.lines += chunk.events;
      const raw = rawChunk(chunk, target, { sequence, stamp });
      const to = { log, codec: isBlank ? "brotli" : codec, partition: partitionOf(sequence) } as const;
      const appending = appendChunk(raw, { ...to, received });
      inFlight.add(appending);
      const appended = () => {
        passFaultPoint("after-append");
        arrival?.end();
        inFlight.delete(appending);
      };
      appending.then(appended).catch(() => undefined);
      sequence++;
      // Waits until another append may start. Throws as soon as one has failed.
      const free = inFlight.size < APPENDS_AT_ONCE ? [Promise.resolve()] : [];
      await Promise.race([...inFlight, ...free]);
    }
  } finally {
    await Promise.allSettled(inFlight);
  }
  await Promise.all(inFlight);
  return sequence;
}

/** Appends may finish in any order, because each chunk has a sequence number. */
async function appendChunk(
  chunk: RawChunk,
  {
    log,
    codec,
    partition,
    received,
  }: Pick<AppendDependencies, "log" | "codec" | "received"> & { partition: number },
): Promise<void> {
  const record = encodeRawChunk(await packChunk(chunk, codec));
  passFaultPoint("before-append");
  // An append that fails may have reached the log.
  let end: number | undefined;
  try {
    end = await log.append([record], { partition, ownerId: chunk.ownerId });
  } finally {
    received.logEnds = endsWith(received.logEnds, partition, end);
  }
}

function endsWith(
  ends: readonly number[] | undefined,
  partition: number,
  end: number | undefined,
): readonly number[] | undefined {
  if (ends === undefined || end === undefined) return undefined;
  const length = Math.max(ends.length, partition + 1);
  return Array.from({ length }, (_, each) => Math.max(ends[each] ?? 0, each === partition ? end : 0));
}

function rawChunk(
  chunk: FormattedChunk,
  target: ImportTarget,
  { sequence, stamp }: { sequence: number; stamp: number },
): RawChunk {
  const { bytes: lines, firstLine, header } = chunk;
  return {
    source: "import",
    ...target,
    sequence,
    firstLine,
    receiptStamp: stamp,
    header,
    codec: "none",
    lines,
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return "the connection broke";
  return error instanceof Error ? error.message : String(error);
}
