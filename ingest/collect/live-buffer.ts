import { NIL_UUID } from "../../schemas/formats.js";
import { pause } from "../../schemas/async/pause.js";
import { packChunk } from "../../schemas/records/chunk-codec.js";
import { partitionsOf, type EventLog } from "../../schemas/records/event-log.js";
import { NDJSON } from "../../schemas/records/import-format.js";
import { type Codec, encodeRawChunk, type RawChunk } from "../../schemas/records/raw-chunk.js";

/** Buffers the lines of live events and appends them to the event log within 200 ms while the log is available. */
export interface LiveBuffer extends AsyncDisposable {
  /**
   * Never waits and never throws. A line that does not fit into the buffer, or not into the share that each of `parties`,
   * its owner and its client, has of it, is dropped and counted.
   */
  add(line: string, parties: readonly string[]): void;
  /** Size of the lines that are not in the log yet. */
  readonly bytes: number;
  /** Resolves once every line that was added before is in the log, however long it is unavailable. */
  flushed(): Promise<void>;
  /** Appends the buffered lines. After some seconds, the rest is dropped and counted. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface LiveBufferOptions {
  log: Pick<EventLog, "append" | "partitions">;
  codec?: Codec;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** A fresh UUID. */
  newId: () => string;
  /** Size of the buffer. Its second half takes only lines of parties with less than `bytesMax / SHARES`. */
  bytesMax: number;
  onLost: (events: number) => void;
  /** Called for every failed append. The append is retried. */
  onFailure: (error: unknown) => void;
  /** How long disposal waits for an unavailable log. */
  endMsMax?: number;
}

/** Half of the promised 200 ms. The other half is for the log. */
const FLUSH_MS = 100;
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Appends in flight. While they are retried, other chunks wait. */
const APPENDS_AT_ONCE = 4;
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 2_000;
const END_MS_MAX = 5_000;
/** Chunks for one partition in a row, so that its reader gets enough for one insert. */
const CHUNKS_IN_A_ROW = 20;

/** Keeps room for the others while one owner gets, or one client sends, more than the log takes. */
const SHARES = 8;

interface Batch {
  lines: Buffer;
  events: number;
  /** By party. */
  bytes: ReadonlyMap<string, number>;
  whenAppended: (() => void)[];
}

/**
 * Lines of all owners share chunks, so the log gets a few records a second for any number of packages. Lines are
 * buffered as bytes, because the garbage collector would copy thousands of strings again and again.
 */
export function openLiveBuffer(options: LiveBufferOptions): LiveBuffer {
  const { log, bytesMax, onLost, newId, endMsMax = END_MS_MAX } = options;
  const ready: Batch[] = [];
  const inFlight = new Set<Batch>();
  const ending = new AbortController();
  let open = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let size = 0;
  let events = 0;
  let bufferedBytes = 0;
  let openBytes = new Map<string, number>();
  const bytesByParty = new Map<string, number>();
  const partitions = partitionsOf("express", log.partitions);
  // Each process starts at another partition.
  let chunks = CHUNKS_IN_A_ROW * (Number.parseInt(newId().slice(-8), 16) % partitions.length);
  let timer: NodeJS.Timeout | undefined;
  let whenEmpty: (() => void) | undefined;

  function closeBatch(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = copyOf(open.subarray(0, size));
    if (events > 0) ready.push({ lines, events, bytes: openBytes, whenAppended: [] });
    openBytes = new Map();
    if (open.length > CHUNK_BYTES) open = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    size = 0;
    events = 0;
    sendReady();
  }

  function sendReady(): void {
    while (inFlight.size < APPENDS_AT_ONCE) {
      const batch = ready.shift();
      if (batch === undefined) return;
      inFlight.add(batch);
      const partition = partitions[Math.floor(chunks++ / CHUNKS_IN_A_ROW) % partitions.length] ?? 0;
      void appendWithRetries(batch, { ...options, partition, signal: ending.signal }).then(() => {
        inFlight.delete(batch);
        for (const resolve of batch.whenAppended) resolve();
        bufferedBytes -= batch.lines.length;
        for (const [party, bytes] of batch.bytes) addTo(bytesByParty, party, -bytes);
        sendReady();
        if (bufferedBytes === 0) whenEmpty?.();
      });
    }
  }

  function hasRoom(bytes: number, parties: readonly string[]): boolean {
    const total = bufferedBytes + bytes;
    if (total <= bytesMax / 2) return true;
    const hasShare = (party: string) => (bytesByParty.get(party) ?? 0) + bytes <= bytesMax / SHARES;
    return total <= bytesMax && parties.every(hasShare);
  }

  return {
    get bytes() {
      return bufferedBytes;
    },
    add(line, parties) {
      const bytes = Buffer.byteLength(line) + 1;
      if (!hasRoom(bytes, parties) || ending.signal.aborted) return onLost(1);
      if (size + bytes > open.length) closeBatch();
      if (bytes > open.length) open = Buffer.allocUnsafeSlow(bytes);
      size += open.write(line, size);
      open[size++] = NEWLINE;
      events++;
      bufferedBytes += bytes;
      for (const party of parties) {
        addTo(openBytes, party, bytes);
        addTo(bytesByParty, party, bytes);
      }
      timer ??= setTimeout(closeBatch, FLUSH_MS);
    },
    async flushed() {
      closeBatch();
      const batches = [...inFlight, ...ready];
      await Promise.all(
        batches.map((batch) => new Promise<void>((done) => void batch.whenAppended.push(done))),
      );
    },
    async [Symbol.asyncDispose]() {
      closeBatch();
      const empty = new Promise<void>((resolve) => (whenEmpty = resolve));
      if (bufferedBytes > 0) await Promise.race([empty, pause(endMsMax, { signal: ending.signal })]);
      ending.abort();
      onLost([...inFlight, ...ready.splice(0)].reduce((lost, batch) => lost + batch.events, 0));
    },
  };
}

function addTo(totals: Map<string, number>, party: string, bytes: number): void {
  const total = (totals.get(party) ?? 0) + bytes;
  if (total > 0) totals.set(party, total);
  else totals.delete(party);
}

/** Copies into memory of its own. A slice would keep a whole buffer alive while the log is unavailable. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

interface AppendOptions extends LiveBufferOptions {
  partition: number;
  signal: AbortSignal;
}

/**
 * Retries until the append succeeds. A failed append may have reached the log. So a retry keeps the id and partition of
 * the chunk and has a sequence number above 0, which makes the reader look for the earlier copy.
 */
async function appendWithRetries(
  batch: Batch,
  { log, partition, signal, ...options }: AppendOptions,
): Promise<void> {
  const { codec = "none", onFailure } = options;
  const first = chunkOf(batch, options);
  for (let sequence = 0; !signal.aborted; sequence++) {
    try {
      const record = encodeRawChunk(await packChunk({ ...first, sequence }, codec));
      await log.append([record], { partition });
      return;
    } catch (error) {
      onFailure(error);
      const pauseMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** sequence);
      await pause(pauseMs, { signal });
    }
  }
}

function chunkOf({ lines }: Batch, { now, newId }: Pick<LiveBufferOptions, "now" | "newId">): RawChunk {
  return {
    source: "collect",
    // Each line names an artifact, which has the owner.
    ownerId: NIL_UUID,
    accountId: "",
    artifactKind: "any",
    artifactId: "",
    importId: newId(),
    sequence: 0,
    firstLine: 1,
    receiptStamp: now(),
    ...NDJSON,
    codec: "none",
    lines,
  };
}
