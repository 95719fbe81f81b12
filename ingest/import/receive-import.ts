import { passFaultPoint } from "../../schemas/fault-point.js";
import { packChunk } from "../../schemas/records/chunk-codec.js";
import type { EventLog } from "../../schemas/records/event-log.js";
import { UPLOAD_LEASE_SECONDS, type UploadStore } from "../../schemas/records/import-store.js";
import type { Codec } from "../../schemas/records/codec.js";
import { encodeRawChunk, type RawChunk } from "../../schemas/records/raw-chunk.js";
import { UploadAborted, type ActiveUpload, type ActiveUploads } from "./active-uploads.js";
import { cutChunks, type Chunk } from "./cut-chunks.js";
import { giveWay as giveWayToOthers } from "./give-way.js";
import { readWhileSent } from "./read-while-sent.js";

/** How a body is cut. */
export const CHUNK_LIMITS = { bytesTarget: 512 * 1024, lineBytesMax: 1_048_576 };
const LEASE_RENEWAL_MS = 5_000;
const INTERRUPT_RETRY_MS = 500;
/** Chunks under way at once: the next one is read while earlier ones are compressed and become durable. */
const APPENDS_AT_ONCE = 4;

/** About 16,000 events: just less than the 4 MiB that a worker first takes at a time. */
const CHUNKS_IN_A_ROW = 7;

/** Who sends what: fixed before the first byte of the body is read. */
export type ImportTarget = Pick<
  RawChunk,
  "ownerId" | "accountId" | "artifactKind" | "artifactId" | "importId"
>;

export interface ReceiveDependencies {
  log: EventLog;
  /** How chunks are compressed; not at all where nothing is said. */
  codec?: Codec | undefined;
  uploads: UploadStore;
  active: ActiveUploads;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** How long a sender may stand still; two minutes where nothing is said. */
  idleMsMax?: number | undefined;
  /** Waits while there is other work for this thread. */
  giveWay?: () => Promise<void>;
}

/**
 * Reads a body to its end, appending its lines to the event log chunk by chunk, and resolves when all of it is
 * durable and the import is known to be complete. Reads no faster than the log takes, and gives way between chunks.
 * @throws whatever broke the body or the log; the import is then marked as interrupted
 */
export async function receiveImport(
  body: AsyncIterable<Buffer>,
  target: ImportTarget,
  { log, codec = "none", uploads, active, now, idleMsMax, giveWay = giveWayToOthers }: ReceiveDependencies,
): Promise<void> {
  using upload = active.open(target.importId);
  using _lease = keepLease(upload, target.importId, uploads);
  try {
    const sent = readWhileSent(body, { signal: upload.signal, idleMsMax });
    const chunks = await appendChunks(sent, target, { log, codec, now, giveWay });
    passFaultPoint("before-upload-complete");
    const completed = await uploads.completeUpload(target.importId, chunks);
    passFaultPoint("before-answer");
    if (!completed) throw new UploadAborted(target.importId);
  } catch (error) {
    if (!(error instanceof UploadAborted)) await interrupt(uploads, target.importId, sentence(error));
    throw error;
  }
}

/** Renews the lease by the clock, however slowly the body comes in; without it, the import was aborted elsewhere. */
function keepLease(upload: ActiveUpload, importId: string, uploads: UploadStore): Disposable {
  const renew = async () => {
    if (!(await uploads.renewLease(importId))) upload.abort();
  };
  // A database that is away for a moment is no reason to give up: the lease outlasts several renewals.
  const timer = setInterval(() => void renew().catch(() => undefined), LEASE_RENEWAL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A database that is away hears of it when it is back, without keeping the sender; were it away for long, the lease tells. */
async function interrupt(uploads: UploadStore, importId: string, reason: string): Promise<void> {
  const tell = () => uploads.interruptUpload(importId, reason);
  const tellAgain = async () => {
    for (const until = Date.now() + UPLOAD_LEASE_SECONDS * 1000; Date.now() < until;) {
      await new Promise((resolve) => setTimeout(resolve, INTERRUPT_RETRY_MS).unref());
      if (
        await tell().then(
          () => true,
          () => false,
        )
      )
        return;
    }
  };
  await tell().catch(() => void tellAgain());
}

type AppendDependencies = Required<Pick<ReceiveDependencies, "log" | "now" | "giveWay">> & { codec: Codec };

async function appendChunks(
  body: AsyncIterable<Buffer>,
  target: ImportTarget,
  { log, codec, now, giveWay }: AppendDependencies,
): Promise<number> {
  const underWay = new Set<Promise<void>>();
  const partitionOf = choosePartitions(log.partitions, target.ownerId);
  let sequence = 0;
  let stamp = 0;
  try {
    for await (const chunk of cutChunks(body, CHUNK_LIMITS)) {
      // A body of one chunk is as short as what it would wait for.
      if (sequence > 0) await giveWay();
      // Receipt orders overrides, so it never stands still within an import, whatever the clock does.
      stamp = Math.max(stamp + 1, now());
      const raw = rawChunk(chunk, target, { sequence, stamp });
      const appending = appendChunk(raw, { log, codec, partition: partitionOf(sequence) });
      underWay.add(appending);
      const appended = () => {
        passFaultPoint("after-append");
        underWay.delete(appending);
      };
      appending.then(appended).catch(() => undefined);
      sequence++;
      // Waits for room, and throws as soon as an append is known to have failed.
      const room = underWay.size < APPENDS_AT_ONCE ? [Promise.resolve()] : [];
      await Promise.race([...underWay, ...room]);
    }
  } finally {
    await Promise.allSettled(underWay);
  }
  await Promise.all(underWay);
  return sequence;
}

/** Chunks may overtake one another here: each says what its place is. */
async function appendChunk(
  chunk: RawChunk,
  { log, codec, partition }: { log: EventLog; codec: Codec; partition: number },
): Promise<void> {
  const record = encodeRawChunk(await packChunk(chunk, codec));
  passFaultPoint("before-append");
  await log.append([record], { partition });
}

function rawChunk(
  chunk: Chunk,
  target: ImportTarget,
  { sequence, stamp }: { sequence: number; stamp: number },
): RawChunk {
  const { bytes: lines, firstLine } = chunk;
  return { source: "import", ...target, sequence, firstLine, receiptStamp: stamp, codec: "none", lines };
}

/**
 * Half of the partitions, chosen by owner, in turn: one owner's imports use every worker, and a long one leaves
 * other owners partitions without its backlog. Several chunks in a row go to one partition: a worker that reads it
 * finds enough for one insert, where many small ones would cost more than they bring.
 */
export function choosePartitions(partitions: number, ownerId: string): (sequence: number) => number {
  // The end of an id is random; its beginning is the time, and equal for owners made within a minute.
  const first = Number.parseInt(ownerId.slice(-8), 16) || 0;
  const share = Math.max(1, Math.ceil(partitions / 2));
  return (sequence) => (first + (Math.floor(sequence / CHUNKS_IN_A_ROW) % share)) % partitions;
}

function sentence(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return "the connection broke";
  return error instanceof Error ? error.message : String(error);
}
