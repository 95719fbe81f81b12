import { expect, test } from "vitest";
import type { CodecCost } from "../../../bench/import/codec-costs.js";
import { logReport, type LogTurn } from "../../../bench/import/log-report.js";
import { CODECS } from "../../../../schemas/records/raw-chunk.js";
import { partUsage, usageOf } from "../../../bench/usage/given-usage.js";

const USAGE = usageOf({ service: 3, clickhouse: 3, postgres: 3, client: 1 });

const turn = (log: LogTurn["log"], codec: LogTurn["codec"], secondsToDone: number): LogTurn => ({
  log,
  codec,
  secondsToAnswer: secondsToDone / 2,
  secondsToDone,
  usage: USAGE,
  broker: partUsage(0.5),
});

const TURNS = [
  ...[8, 10, 30].map((seconds) => turn("embedded", "none", seconds)),
  ...[20, 12.5, 11].map((seconds) => turn("kafka", "lz4", seconds)),
  ...[turn("embedded", "lz4", 16), turn("embedded", "brotli", 40)],
  ...[turn("kafka", "none", 50), turn("kafka", "brotli", 25)],
];
const COSTS: CodecCost[] = CODECS.map((codec, at) => ({
  codec,
  bytesRatio: 1 + at,
  packMicrosecondsPerEvent: at,
  unpackMicrosecondsPerEvent: at / 2,
}));
const FACTS = { turns: TURNS, events: 1_000_000, rounds: 3, costs: COSTS };

test("compares the logs by their medians, each with its default codec", () => {
  expect(logReport(FACTS).json).toMatchObject({
    ratio: 0.8,
    chosen: { embedded: "none", kafka: "lz4" },
    logs: [
      { log: "embedded", codec: "none", seconds_to_done: 10, events_per_second: 100_000 },
      { log: "kafka", codec: "none", events_per_second: 20_000 },
      { log: "embedded", codec: "lz4" },
      {
        log: "kafka",
        codec: "lz4",
        seconds_to_answer: 6.25,
        seconds_to_done: 12.5,
        events_per_second: 80_000,
      },
      { log: "embedded", codec: "brotli" },
      { log: "kafka", codec: "brotli" },
    ],
  });
});

test("marks the default codec, and shows the results and costs of all", () => {
  const { text } = logReport(FACTS);
  expect(text).toContain("1,000,000 events, medians of 3 rounds");
  expect(text).toMatch(/kafka +\* lz4 +6\.25 s +12\.50 s +80,000 +3\.00 s +3\.00 s +0\.50 s\n/);
  expect(text).toMatch(/kafka +brotli +12\.50 s +25\.00 s +40,000 /);
  expect(text).toMatch(/brotli +1\/3\.0 +2\.00 µs\/event +1\.00 µs\/event\n/);
  expect(text).toMatch(/Kafka over the embedded log: 0\.80\n/);
});
