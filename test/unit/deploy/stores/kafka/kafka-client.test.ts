import { logLevel } from "kafkajs";
import { pino } from "pino";
import { expect, test } from "vitest";
import { passOn } from "../../../../../deploy/stores/kafka/kafka-client.js";

/** The program's log lines for a log entry of kafkajs. */
function passed(level: logLevel, said: Record<string, unknown> & { message: string }): object[] {
  const lines: object[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as object);
  const entry = { level, namespace: "Consumer", label: "", log: { timestamp: "", ...said } };
  passOn(entry, pino({ level: "debug" }, { write }));
  return lines;
}

const LEVELS = pino.levels.values;

test("records that are out of reach are an error that names topic and partition", () => {
  const message = "Offset out of range, resetting to default offset";
  expect(passed(logLevel.ERROR, { message, topic: "events.raw", partition: 0 })).toEqual([
    expect.objectContaining({ level: LEVELS["error"], topic: "events.raw", partition: 0, msg: message }),
  ]);
});

test("a request that failed; retrying is a warning with its reason", () => {
  const said = { message: "Failed to connect to broker, reconnecting", error: "connect ECONNREFUSED" };
  expect(passed(logLevel.ERROR, said)).toEqual([
    expect.objectContaining({ level: LEVELS["warn"], store: "Kafka", error: said.error, msg: said.message }),
  ]);
});

test.each([
  [logLevel.WARN, "The group is rebalancing, re-joining", "The group is rebalancing, so a rejoin is needed"],
  [logLevel.ERROR, "Response Heartbeat(key: 12, version: 3)", "The group is rebalancing"],
  [logLevel.ERROR, "Response FindCoordinator(key: 10, version: 2)", "The coordinator is loading and hence"],
  [logLevel.WARN, "Limiting retries for the idempotent producer may invalidate EoS guarantees", undefined],
  [logLevel.INFO, "Consumer has joined the group", undefined],
])("what belongs to a healthy start is for debugging (level %i: %s)", (level, message, error) => {
  expect(passed(level, { message, error })).toEqual([
    expect.objectContaining({ level: LEVELS["debug"], msg: message }),
  ]);
});
