import { availableParallelism } from "node:os";
import type { Codec } from "../../../schemas/records/raw-chunk.js";
import { DEFAULT_CODECS } from "../../../deploy/config/config.js";
import type { BenchResult, EventLogName } from "../common/benchmark.js";
import { median } from "../common/median.js";
import { textTable } from "../common/text-table.js";
import type { PartUsage, Usage } from "../usage/sample-usage.js";
import type { CodecCost } from "./codec-costs.js";
import { rounded, seconds, timesOf, whole } from "../common/format-numbers.js";

/** A log and the codec of its chunks. */
export interface LogVariant {
  log: EventLogName;
  codec: Codec;
}

/** One import on one variant. */
export interface LogTurn extends LogVariant {
  secondsToAnswer: number;
  secondsToDone: number;
  usage: Usage;
  /** Undefined when the benchmark did not start the broker. */
  broker: PartUsage | undefined;
}

export interface LogFacts {
  turns: readonly LogTurn[];
  events: number;
  rounds: number;
  costs: readonly CodecCost[];
}

/** Medians of the turns. `ratio`: events per second on Kafka over those on the embedded log, with the default codecs. */
export function logReport({ turns, events, rounds, costs }: LogFacts): BenchResult {
  const rows = costs.flatMap((cost) =>
    (["embedded", "kafka"] as const).map((log) => rowOf({ log, codec: cost.codec }, { turns, events })),
  );
  const of = (log: EventLogName) => rows.find((row) => row.log === log && row.chosen) as LogRow;
  const ratio = of("embedded").secondsToDone / of("kafka").secondsToDone;
  const text =
    `import, both event logs: ${whole(events)} events, ` +
    `${timesOf(rounds)} on ${availableParallelism()} cores, ` +
    `* is the default of LOG_CODEC\n\n` +
    `${timesTable(rows)}\n${codecTable(costs)}\n  Kafka over the embedded log: ${ratio.toFixed(2)}\n`;
  return { text, json: jsonOf({ rows, costs, events, rounds, ratio }) };
}

interface LogRow extends LogVariant {
  chosen: boolean;
  secondsToAnswer: number;
  secondsToDone: number;
  eventsPerSecond: number;
  cpuSeconds: { service: number; clickhouse: number; postgres: number; broker: number | undefined };
}

function rowOf({ log, codec }: LogVariant, { turns, events }: Pick<LogFacts, "turns" | "events">): LogRow {
  const own = turns.filter((turn) => turn.log === log && turn.codec === codec);
  const secondsToDone = median(own.map((turn) => turn.secondsToDone));
  const cpuOf = (part: "service" | "clickhouse" | "postgres") =>
    median(own.map(({ usage }) => usage[part].cpuSeconds));
  const brokers = own.flatMap(({ broker }) => (log === "kafka" && broker ? [broker.cpuSeconds] : []));
  return {
    log,
    codec,
    chosen: DEFAULT_CODECS[log] === codec,
    secondsToAnswer: median(own.map((turn) => turn.secondsToAnswer)),
    secondsToDone,
    eventsPerSecond: events / secondsToDone,
    cpuSeconds: {
      service: cpuOf("service"),
      clickhouse: cpuOf("clickhouse"),
      postgres: cpuOf("postgres"),
      broker: brokers.length === 0 ? undefined : median(brokers),
    },
  };
}

function timesTable(rows: readonly LogRow[]): string {
  return textTable([
    ["", "codec", "to the answer", "to done", "events per second", "CPU", "of ClickHouse", "of the broker"],
    ...rows.map(({ log, codec, chosen, secondsToAnswer, secondsToDone, eventsPerSecond, cpuSeconds }) => [
      log,
      chosen ? `* ${codec}` : codec,
      seconds(secondsToAnswer),
      seconds(secondsToDone),
      whole(eventsPerSecond),
      seconds(cpuSeconds.service),
      seconds(cpuSeconds.clickhouse),
      cpuSeconds.broker === undefined ? "" : seconds(cpuSeconds.broker),
    ]),
  ]);
}

function codecTable(costs: readonly CodecCost[]): string {
  return textTable([
    ["codec", "bytes", "compress", "decompress"],
    ...costs.map(({ codec, bytesRatio, packMicrosecondsPerEvent, unpackMicrosecondsPerEvent }) => [
      codec,
      `1/${bytesRatio.toFixed(1)}`,
      `${packMicrosecondsPerEvent.toFixed(2)} µs/event`,
      `${unpackMicrosecondsPerEvent.toFixed(2)} µs/event`,
    ]),
  ]);
}

interface Report extends Omit<LogFacts, "turns"> {
  rows: readonly LogRow[];
  ratio: number;
}

function jsonOf({ rows, costs, events, rounds, ratio }: Report): object {
  return {
    events,
    rounds,
    ratio: rounded(ratio),
    chosen: DEFAULT_CODECS,
    logs: rows.map(({ log, codec, secondsToAnswer, secondsToDone, eventsPerSecond, cpuSeconds }) => ({
      log,
      codec,
      seconds_to_answer: rounded(secondsToAnswer),
      seconds_to_done: rounded(secondsToDone),
      events_per_second: Math.round(eventsPerSecond),
      cpu_seconds: cpuSeconds,
    })),
    codecs: costs.map(({ codec, bytesRatio, packMicrosecondsPerEvent, unpackMicrosecondsPerEvent }) => ({
      codec,
      bytes_ratio: rounded(bytesRatio),
      compress_us_per_event: rounded(packMicrosecondsPerEvent),
      decompress_us_per_event: rounded(unpackMicrosecondsPerEvent),
    })),
  };
}
