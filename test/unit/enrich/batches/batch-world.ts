import type { ClickHouseClient } from "@clickhouse/client";
import { vi } from "vitest";
import type { ThreadMutex } from "../../../../enrich/batches/poison-detection.js";
import type { ChunkOutcome, DeadLetter, DeadLetterEntry } from "../../../../schemas/records/chunk-outcome.js";
import type { Lookups } from "../../../../schemas/records/enriched-event.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/connect-shards.js";
import { BatchLost } from "../../../../schemas/records/event-log.js";
import { packChunk } from "../../../../schemas/records/chunk-codec.js";
import { type Codec, encodeRawChunk } from "../../../../schemas/records/raw-chunk.js";
import { chunkOf, dockerPackage, tinyLookups } from "../lines/chunk-of.js";
import { CONSUMER, type Insert, batchOf, bytesOf, inserted, logOf, startWorkerOn } from "../worker-of.js";

/**
 * A log of one range, a ClickHouse and a PostgreSQL that outlive the worker. Every record has one line; its agent
 * names it.
 */
export function batchWorld(agents: readonly string[], records = agents.map(recordOf)) {
  const stored = new Map<string, string[]>();
  const kept = {
    note: undefined as string | undefined,
    notes: [] as string[],
    committed: false,
    /** Another consumer has the range. */
    lost: false,
    stored,
    outcomes: new Map<number, ChunkOutcome>(),
    deadLetters: new Map<string, DeadLetter>(),
    logged: [] as string[],
    /** Lines whose entries were deleted. */
    unlogged: [] as number[],
    recounted: [] as number[],
  };
  const rows = () => [...stored].flatMap(([token, names]) => (token.includes(":log") ? [] : names)).sort();

  /** Works on the range until it is committed, fails, or the program dies: then it never resolves. */
  async function work(faults: Faults = {}): Promise<"committed" | Error | "died"> {
    const batch = batchOf(records, {
      token: TOKEN,
      recordedNote: kept.note,
      ownedForMs: OWNED_FOR_MS,
      async recordRange(note) {
        if (kept.lost) throw new BatchLost("taken over");
        kept.notes.push((kept.note = note));
      },
      commit: async () => void (kept.committed = true),
    });
    const ended = new Promise<"committed" | Error>((resolve) => {
      const log = logOf(async (_, handle) => {
        void handle(batch).then(() => resolve("committed"), resolve);
        return CONSUMER;
      });
      const started = startWorkerOn(log, {
        shards: oneServer(
          clickHouseOf(kept, faults) as unknown as ClickHouseClient,
          async () => faults.startedAt?.() ?? 0,
        ),
        recounts: {
          latest: async () => "0",
          whileInserting: (work) => work(),
          recount: async (_, stamps) => void kept.recounted.push(...stamps),
        },
        lookups: () => lookupsOf(faults),
        resolveArtifact: async () => {
          await faults.resolving?.();
          return dockerPackage;
        },
        progress: {
          abortedAmong: async () => [],
          async putChunks(outcomes) {
            for (const outcome of outcomes) kept.outcomes.set(outcome.sequence, outcome);
            return faults.entries ?? [];
          },
          replaceDeadLetters: async () => undefined,
        },
        async putDeadLetter(letter) {
          kept.deadLetters.set(letter.logPosition, letter);
          return letter.offset;
        },
        ...(faults.mutex && { mutexOf: () => faults.mutex as ThreadMutex }),
        ...(faults.onLogRefused && { onLogRefused: faults.onLogRefused }),
      });
      if (faults.stopped)
        setTimeout(() => void started.then((worker) => worker[Symbol.asyncDispose]()), 1_000);
    });
    const died = async () => {
      await vi.advanceTimersByTimeAsync(200_000);
      return "died" as const;
    };
    return Promise.race([ended, died()]);
  }
  return { kept, rows, work };
}

export const TOKEN = "log:events.raw:0:5-9";
export const FIRST_OFFSET = 5;
export const OWNED_FOR_MS = 10_000;
export const FIRST_STAMP = 1_000;

/** The program died: nothing after this happens, and nothing is cleaned up. */
export const DEATH = new Promise<never>(() => undefined);

interface Faults {
  /** Throws for the agent of a line, as a fault of ours would. */
  enriching?: (agent: string) => void;
  /** Answers the code with which ClickHouse refuses a block that holds these agents. */
  refusing?: (agents: readonly string[]) => string | undefined;
  /** The same for log entries, and the agents in the lines that they hold. */
  refusingLog?: (agents: readonly string[]) => string | undefined;
  /** Never answers: the program dies while it asks. */
  resolving?: () => Promise<void>;
  /** Dies instead of going on. */
  dyingAfterInsert?: () => boolean;
  /** The worker is told to stop after a second. */
  stopped?: boolean;
  /** Shared with other workers of the same process. */
  mutex?: ThreadMutex;
  onLogRefused?: (...told: unknown[]) => void;
  /** Of dead letters that are imported now. */
  entries?: DeadLetterEntry[];
  /** Of ClickHouse, asked before anything is sent, and after everything is synced. */
  startedAt?: () => number;
}

export function recordOf(agent: string, sequence: number): Buffer {
  return encodeRawChunk(
    chunkOf(`{"$time":"1970-01-01","$user_agent":"${agent}"}\n`, {
      sequence,
      firstLine: sequence + 1,
      receiptStamp: FIRST_STAMP + sequence,
    }),
  );
}

/** The same with its lines compressed; many times, so that it pays. */
export async function packed(
  agent: string,
  sequence: number,
  codec: Codec,
  change = (lines: Buffer) => lines,
): Promise<Buffer> {
  const chunk = chunkOf(`{"$time":"1970-01-01","$user_agent":"${agent}"}\n`.repeat(50), {
    sequence,
    firstLine: 50 * sequence + 1,
    receiptStamp: FIRST_STAMP + sequence,
  });
  const small = await packChunk(chunk, codec);
  return encodeRawChunk({ ...small, lines: change(small.lines) });
}

/** The codec stands right before the lines and their length. */
export function withCodec(record: Buffer, codec: number): Buffer {
  record[record.indexOf('{"$time"') - 2] = codec;
  return record;
}

function lookupsOf({ enriching }: Faults): Lookups {
  return {
    ...tinyLookups,
    clients: {
      of(agent) {
        enriching?.(agent);
        return tinyLookups.clients.of(agent);
      },
    },
  };
}

/** Keeps the first block of each token, as the real one does, with the agents that are in it. */
function clickHouseOf({ stored, logged, unlogged }: ReturnType<typeof batchWorld>["kept"], faults: Faults) {
  const exec = async (params: Insert) => {
    const text = (await bytesOf(params)).toString("latin1");
    const agents = [...new Set(text.match(/agent-(?:\d{4}|\w)/g))];
    const token = params.clickhouse_settings.insert_deduplication_token ?? "";
    if (params.query.includes("import_log")) logged.push(token);
    const code = (params.query.includes("import_log") ? faults.refusingLog : faults.refusing)?.(agents);
    if (code !== undefined) throw Object.assign(new Error(`refused with ${code}`), { code });
    if (!stored.has(token)) stored.set(token, agents);
    if (faults.dyingAfterInsert?.()) await DEATH;
    return inserted();
  };
  const query = async ({ query_params: { stamps } }: { query_params: { stamps: number[] } }) => {
    const events = [...stored].flatMap(([token, names]) => (token.includes(":log") ? [] : names));
    const found = stamps.some((stamp) => events.includes(AGENTS[stamp - FIRST_STAMP] ?? ""));
    return { json: async () => [{ found: found ? 1 : 0 }] };
  };
  const command = async ({
    query: text,
    query_params,
  }: {
    query: string;
    query_params?: { line: number };
  }) => {
    if (text.startsWith("DELETE FROM import_log")) unlogged.push(query_params?.line ?? 0);
    if (text.startsWith("DELETE FROM events")) for (const token of stored.keys()) stored.set(token, []);
  };
  return { exec, query, command };
}

export const AGENTS = ["agent-a", "agent-b", "agent-c", "agent-d", "agent-e"];
export const without = (...left: string[]) => AGENTS.filter((agent) => !left.includes(agent));
export const throwingFor = (bad: string) => (agent: string) => {
  if (agent === bad) throw new TypeError("a fault of ours");
};
