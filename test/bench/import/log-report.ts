import type { Codec } from "../../../schemas/records/raw-chunk.js";
import { DEFAULT_CODECS } from "../../../deploy/config/config.js";
import { type BenchResult, EVENT_LOGS, type EventLogName } from "../common/benchmark.js";
import { timesOf, whole } from "../common/format-numbers.js";
import { overRounds } from "../common/median.js";
import { factLines, report } from "../common/report.js";
import type { PartUsage, Usage } from "../usage/sample-usage.js";
import type { CodecCost } from "./codec-costs.js";

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

/** `ratio`: events per second on Kafka over those on the embedded log, with the default codecs. */
export function logReport({ turns, events, rounds, costs }: LogFacts): BenchResult {
  const logs = costs.flatMap(({ codec }) =>
    EVENT_LOGS.map((log) => {
      const own = turns.filter((turn) => turn.log === log && turn.codec === codec);
      return { log, codec, ...overRounds(own.map((turn) => factsOf(turn, events))) };
    }),
  );
  const isChosen = ({ log, codec }: LogVariant) => DEFAULT_CODECS[log] === codec;
  const [embedded, kafka] = EVENT_LOGS.map((name) =>
    logs.find((each) => each.log === name && isChosen(each)),
  );
  const ratio = (embedded?.seconds_to_done ?? NaN) / (kafka?.seconds_to_done ?? NaN);
  const codecs = costs.map((cost) => ({
    codec: cost.codec,
    bytes_ratio: cost.bytesRatio,
    compress_us_per_event: cost.packMicrosecondsPerEvent,
    decompress_us_per_event: cost.unpackMicrosecondsPerEvent,
  }));
  return report({
    title: `import, both event logs: ${whole(events)} events, * is the default of LOG_CODEC, ${timesOf(rounds)}`,
    tables: [
      factLines(
        "",
        logs.map(({ log, codec, ...facts }) => [
          `${log} ${isChosen({ log, codec }) ? "* " : ""}${codec}`,
          facts,
        ]),
      ),
      factLines(
        "codec",
        codecs.map(({ codec, ...cost }) => [codec, cost]),
      ),
    ],
    notes: [`Kafka over the embedded log: ${ratio.toFixed(2)}`],
    json: { events, rounds, ratio, chosen: DEFAULT_CODECS, logs, codecs },
  });
}

function factsOf({ log, secondsToAnswer, secondsToDone, usage, broker }: LogTurn, events: number) {
  return {
    seconds_to_answer: secondsToAnswer,
    seconds_to_done: secondsToDone,
    events_per_second: events / secondsToDone,
    cpu_seconds: {
      service: usage.service.cpuSeconds,
      clickhouse: usage.clickhouse.cpuSeconds,
      postgres: usage.postgres.cpuSeconds,
      broker: log === "kafka" ? broker?.cpuSeconds : undefined,
    },
  };
}
