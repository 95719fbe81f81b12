import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  openDataDir,
  readRunningEndpoints,
  endpointCredentials,
} from "../../../../deploy/process/data-dir.js";
import { StartFailure } from "../../../../deploy/process/start-failure.js";

let parent: string;
let path: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "data-dir-"));
  path = join(parent, "a/b");
});

afterEach(() => rm(parent, { recursive: true, force: true }));

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

test("creates the directory, and folders in it, for this user only", async () => {
  await using dataDir = await openDataDir(path);
  expect(await modeOf(dataDir.path)).toBe(0o700);
  expect(await modeOf(dataDir.sub("clickhouse"))).toBe(0o700);
});

test("closes an empty directory that was open to others", async () => {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
  await using dataDir = await openDataDir(path);
  expect(await modeOf(dataDir.path)).toBe(0o700);
});

test("leaves a directory with other files unchanged", async () => {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
  await writeFile(join(path, "letter.txt"), "");
  await expect(openDataDir(path)).rejects.toThrow(/contains other files/);
  expect(await modeOf(path)).toBe(0o755);
});

test("a second opening names the process that holds the directory", async () => {
  await using _first = await openDataDir(path);
  await expect(openDataDir(path)).rejects.toThrow(`DATA_DIR ${path} is in use by process ${process.pid}. `);
  await expect(openDataDir(path)).rejects.toBeInstanceOf(StartFailure);
});

test("an opening waits for a command that has the directory, and not for a service", async () => {
  const command = await openDataDir(path, { isCommand: true });
  const waits: string[] = [];
  const waiting = openDataDir(path, { onWait: (sentence) => waits.push(sentence) });
  await expect.poll(() => waits).toEqual([expect.stringContaining(`(process ${process.pid}) ends`)]);
  await command[Symbol.asyncDispose]();
  await using _service = await waiting;
  await expect(openDataDir(path, { isCommand: true })).rejects.toThrow(
    `is in use by process ${process.pid}. `,
  );
});

test("exactly one of several concurrent openings succeeds", async () => {
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => openDataDir(path)));
  const opened = results.filter((result) => result.status === "fulfilled");
  expect(opened).toHaveLength(1);
  await opened[0]?.value[Symbol.asyncDispose]();
});

test("opens a directory that a killed process left behind", async () => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await writeFile(join(path, "lock"), `${process.ppid}\n`);
  await using dataDir = await openDataDir(path);
  expect(dataDir.path).toBe(path);
});

test("leaves neither lock nor endpoints behind when closed", async () => {
  const dataDir = await openDataDir(path);
  await dataDir.writeEndpoints({ api: "http://127.0.0.1:8080" });
  await dataDir[Symbol.asyncDispose]();
  expect(await readdir(path)).toEqual(["format"]);
});

test("another process of this user reads the endpoints of a running instance", async () => {
  await using dataDir = await openDataDir(path);
  await dataDir.writeEndpoints({ api: "http://127.0.0.1:1" });
  await dataDir.writeEndpoints({ api: "http://127.0.0.1:2" });
  expect(await readRunningEndpoints(path)).toEqual({ api: "http://127.0.0.1:2" });
  expect(await dataDir.readEndpoints()).toEqual({ api: "http://127.0.0.1:2" });
  const clickhouse = "http://default:secret@127.0.0.1:3/";
  await dataDir.writeEndpoints({ clickhouse });
  const parts = { url: "http://127.0.0.1:3/", username: "default", password: "secret" };
  expect(await dataDir.readEndpoints()).toEqual({ clickhouse, credentials: { clickhouse: parts } });
  expect(await modeOf(join(path, "endpoints.json"))).toBe(0o600);
});

test("the endpoints of a killed instance are ignored", async () => {
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "lock"), `${process.ppid}\n`);
  await writeFile(join(path, "endpoints.json"), '{"api":"http://127.0.0.1:1"}');
  expect(await readRunningEndpoints(path)).toBeUndefined();
});

test("there are no endpoints before the first start", async () => {
  expect(await readRunningEndpoints(path)).toBeUndefined();
});

test.each([
  ["of before the first release", "postgres", /is older than the first release.*[Ee]xport.*import/],
  ["of a later version", "format", /was written by a newer version/],
])("a directory %s is refused, and nothing in it changes", async (_, name, sentence) => {
  await mkdir(path, { recursive: true, mode: 0o755 });
  await writeFile(join(path, name), "2");
  const before = await stat(path);
  await expect(openDataDir(path)).rejects.toThrow(sentence);
  await expect(openDataDir(path, { restoring: true })).rejects.toThrow(sentence);
  await expect(readRunningEndpoints(path)).rejects.toThrow(sentence);
  expect(await readdir(path)).toEqual([name]);
  expect(await stat(path)).toMatchObject({ mode: before.mode, mtimeMs: before.mtimeMs });
});

test("refuses a file with the reason that it is not a directory", async () => {
  await writeFile(join(parent, "file"), "");
  await expect(openDataDir(join(parent, "file"))).rejects.toBeInstanceOf(StartFailure);
  await expect(openDataDir(join(parent, "file/below"))).rejects.toBeInstanceOf(StartFailure);
});

test("whoever ends it a second time waits until the lock is gone", async () => {
  const dataDir = await openDataDir(path);
  const first = dataDir[Symbol.asyncDispose]();
  await dataDir[Symbol.asyncDispose]();
  expect(await readdir(path)).not.toContain("lock");
  await first;
});

test("credentials of URLs stand apart, decoded, and those without have none", () => {
  const endpoints = {
    api: "http://127.0.0.1:8080",
    clickhouse: "http://default:p%40ss%2Fword@127.0.0.1:8123/?database=maintainer",
    postgres: "postgres://service:100%@127.0.0.1:5432/maintainer",
    metrics: undefined,
  };
  const parts = endpointCredentials(endpoints);
  expect(parts).toEqual({
    clickhouse: {
      url: "http://127.0.0.1:8123/?database=maintainer",
      username: "default",
      password: "p@ss/word",
    },
    postgres: { url: "postgres://127.0.0.1:5432/maintainer", username: "service", password: "100%" },
  });
  expect(() => new Request(endpoints.clickhouse)).toThrow("credentials");
  expect(() => new Request(parts["clickhouse"]?.url ?? "")).not.toThrow();
});
