import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ALL_PREPARED, smallLookups } from "../../../support/stores/prepared-stores.js";
import {
  assertNoneLeft,
  spawnToolchain,
  waitUntilReady,
} from "../../../support/program/toolchain-process.js";
import { useFolder } from "../../../support/use-folder.js";

const dataDir = join(useFolder("broken-off-starts"), "data");

function beginStart() {
  const ports = { PORT: "0", COLLECT_PORT: "0", METRICS_PORT: "0" };
  return spawnToolchain({ ...ports, ...smallLookups(ALL_PREPARED), DATA_DIR: dataDir });
}

const saysWhatItStarts = (program: ReturnType<typeof beginStart>) =>
  expect
    .poll(() => program.log(), { interval: 10 })
    .toContain(`Starting PostgreSQL, ClickHouse and the event log in ${dataDir} ...`);

/** One after the other on one directory: at the beginning, while PostgreSQL makes its files, and while both start. */
describe.sequential("a start that a signal breaks off", () => {
  test.each<[NodeJS.Signals, string, string]>([
    ["SIGINT", "the data directory is locked", "lock"],
    ["SIGTERM", "PostgreSQL makes its files", "postgres/data.new"],
    ["SIGINT", "ClickHouse starts", "clickhouse/data"],
  ])("ends at once by %s when %s, with nothing left running or locked", async (signal, _, path) => {
    const program = beginStart();
    await saysWhatItStarts(program);
    await expect.poll(() => existsSync(join(dataDir, path)), { interval: 5 }).toBe(true);
    program.kill(signal);
    expect(await program.gone).toBe(0);
    expect(program.log()).toContain("Stopping during startup.");
    expect(program.log()).not.toContain("listens on");
    expect(existsSync(join(dataDir, "lock"))).toBe(false);
    await assertNoneLeft(dataDir, { patienceMs: 30_000 });
  });

  test("is followed by one that works", async () => {
    const program = beginStart();
    await waitUntilReady(program, dataDir);
    program.kill("SIGTERM");
    expect(await program.gone).toBe(0);
  });
});
