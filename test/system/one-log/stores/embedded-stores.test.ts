import { spawn } from "node:child_process";
import { once } from "node:events";
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DataDir, openDataDir } from "../../../../deploy/process/data-dir.js";
import {
  type EmbeddedClickHouse,
  startClickHouse,
} from "../../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import {
  type EmbeddedPostgres,
  startPostgres,
} from "../../../../deploy/stores/embedded/postgres/postgres.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { useFolder } from "../../../support/use-folder.js";

const log = pino({ level: "silent" });
const path = useFolder("embedded-stores");
let stores: Stores;

interface Stores {
  dataDir: DataDir;
  clickhouse: EmbeddedClickHouse;
  postgres: EmbeddedPostgres;
}

beforeAll(async () => void (stores = await openStores()));
afterAll(closeStores);

async function openStores(): Promise<Stores> {
  const dataDir = await openDataDir(path);
  const [clickhouse, postgres] = await Promise.all([
    startClickHouse({ dir: dataDir.sub("clickhouse"), log }),
    startPostgres({ dir: dataDir.sub("postgres"), log }),
  ]);
  return { dataDir, clickhouse, postgres };
}

async function closeStores(): Promise<void> {
  await Promise.all([stores.clickhouse[Symbol.asyncDispose](), stores.postgres[Symbol.asyncDispose]()]);
  await stores.dataDir[Symbol.asyncDispose]();
}

/** The trimmed body, also of an error. */
async function askClickHouse(query: string, user?: { username: string; password: string }): Promise<string> {
  const headers =
    user === undefined ? {} : { "X-ClickHouse-User": user.username, "X-ClickHouse-Key": user.password };
  const response = await fetch(stores.clickhouse.url, { method: "POST", body: query, headers });
  return (await response.text()).trim();
}

const asOwner = (query: string) => askClickHouse(query, stores.clickhouse);

async function askPostgres(query: string, url = stores.postgres.url): Promise<unknown[]> {
  return onPostgres(url, async (client) => {
    return (await client.query<unknown[]>({ text: query, rowMode: "array" })).rows;
  });
}

/** A process that holds the stores of the data directory, as the program does, until it is killed. */
async function holdStoresElsewhere(): Promise<{ pid: number; storePids: number[]; kill(): Promise<void> }> {
  const dist = pathToFileURL(join(import.meta.dirname, "../../../../dist/deploy/")).href;
  const script = `
    import { pino } from "pino";
    const { openDataDir } = await import("${dist}process/data-dir.js");
    const { startClickHouse } = await import("${dist}stores/embedded/clickhouse/clickhouse.js");
    const { startPostgres } = await import("${dist}stores/embedded/postgres/postgres.js");
    const log = pino({ level: "silent" });
    const dataDir = await openDataDir(process.argv[1]);
    const stores = await Promise.all([
      startClickHouse({ dir: dataDir.sub("clickhouse"), log }),
      startPostgres({ dir: dataDir.sub("postgres"), log }),
    ]);
    console.log(JSON.stringify(stores.map(({ pid }) => pid)));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script, path], {
    cwd: join(import.meta.dirname, "../../../.."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return {
    pid: child.pid as number,
    storePids: JSON.parse(line.toString()) as number[],
    async kill() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** A process that ended but was not yet collected by its new parent has no working directory any more. */
function isRunning(pid: number): boolean {
  try {
    readlinkSync(`/proc/${pid}/cwd`);
    return true;
  } catch {
    return false;
  }
}

test("rows that were written before a SIGKILL of the program are there after an immediate start", async () => {
  await asOwner("CREATE DATABASE IF NOT EXISTS maintainer ENGINE = Atomic");
  await asOwner("CREATE TABLE maintainer.kept (n UInt32) ENGINE = MergeTree ORDER BY n");
  await askPostgres("CREATE TABLE kept (n integer)");
  await asOwner("INSERT INTO maintainer.kept SELECT number FROM numbers(1000)");
  await askPostgres("INSERT INTO kept SELECT generate_series(1, 1000)");

  await closeStores();
  const elsewhere = await holdStoresElsewhere();
  await elsewhere.kill();
  stores = await openStores();

  expect(await asOwner("SELECT count() FROM maintainer.kept")).toBe("1000");
  expect(await askPostgres("SELECT count(*)::int FROM kept")).toEqual([[1000]]);
});

test("the stores end when the program is killed, with nobody there to end them", async () => {
  await closeStores();
  const elsewhere = await holdStoresElsewhere();
  await elsewhere.kill();
  for (const pid of elsewhere.storePids) await expect.poll(() => isRunning(pid)).toBe(false);
  stores = await openStores();
});

test("a wrong password is refused", async () => {
  const user = { username: stores.clickhouse.username, password: "wrong" };
  expect(await askClickHouse("SELECT 1", user)).toContain("There is no handle");
  const url = new URL(stores.postgres.url);
  url.password = "wrong";
  await expect(askPostgres("SELECT 1", url.href)).rejects.toMatchObject({ code: "28P01" });
});

/** Another user in the URL or in a second header. */
const asDefault = (): [string, Record<string, string>][] => {
  const { username, password } = stores.clickhouse;
  const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString("base64")}`;
  return [
    ["", {}],
    ["?user=default", {}],
    ["", { "X-ClickHouse-User": "default" }],
    ["", { Authorization: basic("default:") }],
    ["?user=default", { Authorization: basic(`${username}:`) }],
    ["?user=default", { "X-ClickHouse-User": username, "X-ClickHouse-Key": "" }],
    ["", { Authorization: basic("default:"), "X-ClickHouse-User": username }],
    ["?user=default", { "X-ClickHouse-User": username, "X-ClickHouse-Key": `${password}x` }],
  ];
};

test.each(["SELECT 1", "SYSTEM STOP LISTEN HTTP", "SELECT count() FROM system.numbers LIMIT 1"])(
  "computes nothing without the password: %s",
  async (query) => {
    for (const [path, headers] of asDefault()) {
      const response = await fetch(`${stores.clickhouse.url}/${path}`, {
        method: "POST",
        body: query,
        headers,
      });
      expect([response.status, await response.text()]).toEqual([
        404,
        expect.stringContaining("There is no handle"),
      ]);
    }
    expect(await asOwner("SELECT currentUser()")).toBe(stores.clickhouse.username);
  },
);

test("the owner of the PostgreSQL database cannot reach the server's files and programs", async () => {
  await expect(askPostgres("SELECT pg_read_file('/etc/passwd')")).rejects.toMatchObject({ code: "42501" });
  await expect(askPostgres("COPY kept FROM PROGRAM 'id'")).rejects.toMatchObject({ code: "42501" });
});

test.each(["clickhouse", "postgres"] as const)(
  "%s that was killed comes back on its port, with its data",
  async (name) => {
    const { url, pid } = stores[name];
    process.kill(pid, "SIGKILL");
    await expect.poll(() => stores[name].pid).not.toBe(pid);
    expect(stores[name].url).toBe(url);
    expect(await asOwner("SELECT count() FROM maintainer.kept")).toBe("1000");
    expect(await askPostgres("SELECT count(*)::int FROM kept")).toEqual([[1000]]);
  },
);

test("stopping the stores leaves no process behind", async () => {
  const pids = [stores.clickhouse.pid, stores.postgres.pid];
  await closeStores();
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  stores = await openStores();
});
