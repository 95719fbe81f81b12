import { packChunk } from "../../schemas/records/chunk-codec.js";
import type { EventLog } from "../../schemas/records/event-log.js";
import type { Codec } from "../../schemas/records/codec.js";
import { encodeRawChunk, type RawChunk } from "../../schemas/records/raw-chunk.js";

/** Takes the lines of live events and has them in the event log within 200 ms, as long as that takes any. */
export interface LiveBuffer extends AsyncDisposable {
  /** Never waits and never throws. A line for which there is no room is lost, and counted. */
  add(line: string): void;
  /** What is held now, of lines that are not in the log yet. */
  readonly bytes: number;
  /** Appends what is held; what the log does not take within some seconds is lost, and counted. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface LiveBufferOptions {
  log: Pick<EventLog, "append" | "partitions">;
  codec?: Codec;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** A fresh UUID. */
  newId: () => string;
  /** The most that is held. */
  bytesMax: number;
  onLost: (events: number) => void;
  /** Told of every append that failed; it is tried again. */
  onFailure: (error: unknown) => void;
  /** How long the end waits for a log that does not take anything. */
  endMsMax?: number;
}

/** Half of what is promised: the rest is for the log. */
const FLUSH_MS = 100;
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** A chunk that the log did not take is tried again; meanwhile others wait. */
const APPENDS_AT_ONCE = 4;
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 2_000;
const END_MS_MAX = 5_000;
/** So many chunks go to one partition: whoever reads it finds more for one insert. */
const CHUNKS_IN_A_ROW = 20;

/** Owners are those of the artifacts that the lines name. */
const ANY_OWNER = "00000000-0000-0000-0000-000000000000";

interface Batch {
  lines: Buffer;
  events: number;
}

/**
 * Lines of all owners share a chunk: however many packages are asked for, a few records a second go into the log. They
 * are held as bytes: as strings, thousands of small objects would be copied by every collection of garbage.
 */
export function openLiveBuffer(options: LiveBufferOptions): LiveBuffer {
  const { log, bytesMax, onLost, newId, endMsMax = END_MS_MAX } = options;
  const ready: Batch[] = [];
  const underWay = new Set<Batch>();
  const ending = new AbortController();
  let open = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let size = 0;
  let events = 0;
  let held = 0;
  // Each process begins elsewhere.
  let chunks = CHUNKS_IN_A_ROW * (Number.parseInt(newId().slice(-8), 16) % log.partitions);
  let timer: NodeJS.Timeout | undefined;
  let whenEmpty: (() => void) | undefined;

  function closeBatch(): void {
    clearTimeout(timer);
    timer = undefined;
    if (events > 0) ready.push({ lines: copyOf(open.subarray(0, size)), events });
    if (open.length > CHUNK_BYTES) open = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    size = 0;
    events = 0;
    sendReady();
  }

  function sendReady(): void {
    while (underWay.size < APPENDS_AT_ONCE) {
      const batch = ready.shift();
      if (batch === undefined) return;
      underWay.add(batch);
      const partition = Math.floor(chunks++ / CHUNKS_IN_A_ROW) % log.partitions;
      void appendUntilTaken(batch, { ...options, partition, signal: ending.signal }).then(() => {
        underWay.delete(batch);
        held -= batch.lines.length;
        sendReady();
        if (held === 0) whenEmpty?.();
      });
    }
  }

  return {
    get bytes() {
      return held;
    },
    add(line) {
      const bytes = Buffer.byteLength(line) + 1;
      if (held + bytes > bytesMax || ending.signal.aborted) return onLost(1);
      if (size + bytes > open.length) closeBatch();
      if (bytes > open.length) open = Buffer.allocUnsafeSlow(bytes);
      size += open.write(line, size);
      open[size++] = NEWLINE;
      events++;
      held += bytes;
      timer ??= setTimeout(closeBatch, FLUSH_MS);
    },
    async [Symbol.asyncDispose]() {
      closeBatch();
      const empty = new Promise<void>((resolve) => (whenEmpty = resolve));
      if (held > 0) await Promise.race([empty, pause(endMsMax, ending.signal)]);
      ending.abort();
      onLost([...underWay, ...ready.splice(0)].reduce((lost, batch) => lost + batch.events, 0));
    },
  };
}

/** Not of Node's pool: a few lines would keep all of it in memory for as long as the log is away. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

interface Appending extends LiveBufferOptions {
  partition: number;
  signal: AbortSignal;
}

/**
 * A log that says no may have taken the chunk all the same. It is sent again under its id and to its partition, with
 * a sequence number that is not 0: whoever reads it looks for the one before.
 */
async function appendUntilTaken(
  batch: Batch,
  { log, partition, signal, ...options }: Appending,
): Promise<void> {
  const { codec = "none", onFailure } = options;
  const first = chunkOf(batch, options);
  for (let sequence = 0; !signal.aborted; sequence++) {
    try {
      const record = encodeRawChunk(await packChunk({ ...first, sequence }, codec));
      return await log.append([record], { partition });
    } catch (error) {
      onFailure(error);
      const pauseMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** sequence);
      await pause(pauseMs, signal);
    }
  }
}

function chunkOf({ lines }: Batch, { now, newId }: Pick<LiveBufferOptions, "now" | "newId">): RawChunk {
  return {
    source: "collect",
    ownerId: ANY_OWNER,
    accountId: "",
    artifactKind: "any",
    artifactId: "",
    importId: newId(),
    sequence: 0,
    firstLine: 1,
    receiptStamp: now(),
    codec: "none",
    lines,
  };
}

/** Shorter where it is told to stop. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
