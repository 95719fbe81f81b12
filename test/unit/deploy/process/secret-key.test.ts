import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadSecretKey } from "../../../../deploy/process/secret-key.js";
import { StartFailure } from "../../../../deploy/process/start-failure.js";

let path: string;
const load = (options: { fromConfig?: Buffer; required?: boolean } = {}) =>
  loadSecretKey({ required: false, ...options, dataDir: { path } });

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "secret-key-"));
});

afterEach(() => rm(path, { recursive: true, force: true }));

test("creates 32 bytes once, readable by this user only", async () => {
  const key = await load();
  expect(key).toHaveLength(32);
  expect(await load()).toEqual(key);
  expect((await stat(join(path, "secret-key"))).mode & 0o777).toBe(0o600);
});

test("a configured key overrides the stored one", async () => {
  await load();
  const given = Buffer.alloc(32, 7);
  expect(await load({ fromConfig: given, required: true })).toEqual(given);
});

test("is not created when it must be configured", async () => {
  await expect(load({ required: true })).rejects.toThrow(/SECRET_KEY must be set/);
});

test.each([
  ["a configured key", () => load({ fromConfig: Buffer.alloc(31) })],
  ["a stored key", () => writeFile(join(path, "secret-key"), "c2hvcnQ=").then(() => load())],
])("%s of another length is refused", async (_, loading) => {
  await expect(loading()).rejects.toBeInstanceOf(StartFailure);
});
