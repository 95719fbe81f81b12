import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type DataDir, openDataDir } from "../../../../deploy/process/data-dir.js";
import { ALL_PREPARED, copyDatabases, smallLookups } from "../../../support/stores/prepared-stores.js";
import { assertNoneLeft } from "../../../support/program/toolchain-process.js";
import { useFolder } from "../../../support/use-folder.js";

const dataDir = useFolder("npm-start");

test("SIGTERM to `npm start` ends the program, and lets go of the data directory", async () => {
  await copyDatabases(dataDir);
  const ports = { PORT: "0", COLLECT_PORT: "0", METRICS_PORT: "0" };
  const env = { ...process.env, ...ports, ...smallLookups(ALL_PREPARED), DATA_DIR: dataDir };
  const npm = spawn("npm", ["start"], { env, stdio: ["ignore", "ignore", "ignore"] });
  const gone = once(npm, "exit");
  const endpoints = () =>
    JSON.parse(readFileSync(join(dataDir, "endpoints.json"), "utf8")) as { api: string };
  await expect.poll(async () => (await fetch(`${endpoints().api}/readyz`)).status).toBe(200);

  npm.kill("SIGTERM");
  await gone;
  await assertNoneLeft(dataDir, { patienceMs: 25_000 });
  const free: DataDir = await openDataDir(dataDir);
  await free[Symbol.asyncDispose]();
});
