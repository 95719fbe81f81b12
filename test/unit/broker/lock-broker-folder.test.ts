import { chmod, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockBrokerFolder } from "../../broker/lock-broker-folder.js";
import { openDataDir } from "../../../deploy/process/data-dir.js";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "broker-folder-"));
});

afterEach(() => rm(root, { recursive: true, force: true }));

test("names the process that holds the folder, until it is unlocked", async () => {
  const dir = join(root, "kafka");
  const first = await lockBrokerFolder(dir);
  await expect(lockBrokerFolder(dir)).rejects.toThrow(`is in use by process ${process.pid}`);
  first[Symbol.dispose]();
  const second = await lockBrokerFolder(dir);
  second[Symbol.dispose]();
});

test.each([
  ["made by it", "data", 0o700],
  ["made open, and empty", "open", 0o755],
])("leaves a data directory %s to `start`, before it and beside it", async (_, name, mode) => {
  const dataDir = join(root, name);
  await mkdir(join(root, "open"));
  await chmod(join(root, "open"), mode);
  const broker = await lockBrokerFolder(join(dataDir, "kafka"));
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  const held = await openDataDir(dataDir);
  broker[Symbol.dispose]();
  const again = await lockBrokerFolder(join(dataDir, "kafka"));
  again[Symbol.dispose]();
  await held[Symbol.asyncDispose]();
});
