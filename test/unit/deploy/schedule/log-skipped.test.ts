import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createLog } from "../../../../deploy/process/log.js";
import { cronLogger, logSkipped } from "../../../../deploy/schedule/start-schedule.js";

function openLog() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, log: createLog({ level: "trace", pretty: false, destination }) };
}

test.each([
  ["execution:missed", "a scheduled job was missed: the process was busy or suspended"],
  ["execution:overlap", "a scheduled job was skipped because its previous run is still in progress"],
])("of %s the log says which job and when", (event, msg) => {
  const { lines, log } = openLog();
  const task = Object.assign(new EventEmitter(), { name: "funnel" });
  logSkipped(task, log);
  task.emit(event, { date: new Date(0) });
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 40, job: "funnel", dueAt: "1970-01-01T00:00:00.000Z", msg },
  ]);
});

test("node-cron's own sentences are not in the log, its errors are", () => {
  const { lines, log } = openLog();
  const logger = cronLogger(log);
  logger.warn("missed execution at 1970! Possible blocking IO or high CPU user");
  logger.info("started");
  logger.debug("looked");
  logger.error("Task failed with error!", new Error("failed"));
  logger.error(new Error("failed as well"));
  expect(lines).toHaveLength(2);
  expect(lines.every((line) => line.includes('"msg":"the scheduler failed"'))).toBe(true);
});
