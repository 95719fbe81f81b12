import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { generateBody } from "../../../../deploy/demo/generate-events.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { retract } from "../../../support/imports/import-outcome.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { api, restart, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";
import { useFolder } from "../../../support/use-folder.js";

const DAYS = "startDate=2025-03-10&endDate=2025-03-30";
const MARCH = { from: "2025-03-10", days: 20, seed: 7, clients: 400 };

/** Each of these lines is an event of its own. */
const LIVE = { count: 300, overrideShare: 0, brokenShare: 0 };

const folder = useFolder("toolchain-backup");
const backup = join(folder, "made/backup");
let web: string;
let side: string;
let before: string[][];
/** Imports into `live` that were answered before the backup began, and all of them. */
const live = { before: [] as EventImport[], all: [] as EventImport[] };

async function importInto(
  id: string,
  part: { count: number; startAt: number; overrideShare?: number; brokenShare?: number },
): Promise<EventImport> {
  const packages = [{ id, libraryType: "other" as const }];
  const body = Buffer.concat([...generateBody({ overrideShare: 0, ...MARCH, packages, ...part })]);
  return api.importBody(`/v2/packages/acme/${id}/import`, body, { gzip: true });
}

/** Each export as its lines, sorted: events come in no particular order. */
async function exportsOf(id: string): Promise<string[][]> {
  const paths = [
    `/v1/organizations/acme/aggregates?${DAYS}&package=${id}`,
    `/v1/packages/${id}/events/all.csv?${DAYS}`,
  ];
  return Promise.all(paths.map(async (path) => (await api.readLines(path)).sort()));
}

useToolchain({ organizations: ["acme"] });
beforeAll(async () => {
  const make = (name: string) => makePackage(api, { organization: "acme", name, libraryType: "other" });
  [web, side] = [(await make("web")).id, (await make("live")).id];
  await api.pollToDone(await importInto(web, { count: 2_000, startAt: 0, overrideShare: 0.3 }));
  const mistake = await api.pollToDone(await importInto(web, { count: 1_000, startAt: 1_500 }));
  await retract(api, `/v2/imports/acme/${mistake.id}`);
  const underWay = await importInto(web, { count: 15_000, startAt: 1_000, overrideShare: 0.2 });
  live.before.push(await importInto(side, { ...LIVE, startAt: 0 }));
  let backedUp = false;
  const backingUp = toolchain.admin("backup", backup).finally(() => (backedUp = true));
  live.all.push(...live.before);
  while (!backedUp)
    live.all.push(await api.pollToDone(await importInto(side, { ...LIVE, startAt: 300 * live.all.length })));
  expect(await backingUp).toContain("The backup contains the secret key");
  await api.pollToDone(underWay);
  before = await exportsOf(web);
});

describe("a backup beside the running service", () => {
  test("is closed to other users and leaves nothing in the data directory", () => {
    expect(statSync(backup).mode & 0o777).toBe(0o700);
    expect(readdirSync(backup).sort()).toEqual([
      "backup.json",
      "clickhouse",
      "contents.ndjson",
      "format",
      "log",
      "postgres",
      "secret-key",
    ]);
    expect(readdirSync(toolchain.dataDir).filter((name) => name.startsWith("snapshot"))).toEqual([]);
  });

  test("the log says for each import how it ended", () => {
    const done = toolchain
      .log()
      .split("\n")
      .filter((line) => line.includes('"msg":"import done"'));
    const fields = { importId: live.before[0]?.id, owner: "acme", events: 300, failed: 0 };
    expect(done.map((line) => JSON.parse(line) as unknown)).toContainEqual(expect.objectContaining(fields));
  });

  test("is refused in a folder that has files, and inside the data directory", async () => {
    await expect(toolchain.admin("backup", backup)).rejects.toThrow(/not empty/);
    await expect(toolchain.admin("backup", join(toolchain.dataDir, "x"))).rejects.toThrow(/outside DATA_DIR/);
  });

  test("is not restored while the service runs", async () => {
    await expect(toolchain.admin("restore", backup)).rejects.toThrow(/in use by process/);
  });

  test("that is killed while the stores stand still lets them go on", async () => {
    const module = new URL("../../../../dist/deploy/backup/freeze-servers.js", import.meta.url).href;
    const script = `const { freezeServers } = await import("${module}");
      await freezeServers("${toolchain.dataDir}");
      process.kill(process.pid, "SIGKILL");`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "ignore" });
    const [, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    expect(signal).toBe("SIGKILL");
    expect((await api.request("/readyz")).status).toBe(200);
  });

  test("restored, has everything answered before it exactly once, byte for byte", async () => {
    await toolchain.kill("SIGKILL");
    rmSync(toolchain.dataDir, { recursive: true });
    expect(await toolchain.admin("restore", backup)).toMatch(/all verified\. Start the service\./);
    await restart();
    const { event_imports: imports } = await api.get<{ event_imports: EventImport[] }>("/v2/imports/acme");
    const done = await Promise.all(imports.map((each) => api.pollToDone(each)));
    expect(await exportsOf(web)).toEqual(before);
    const ids = new Set(live.all.map(({ id }) => id));
    const kept = done.filter(({ id, status }) => ids.has(id) && status === "done");
    expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(live.before.map(({ id }) => id)));
    const [, events = []] = await exportsOf(side);
    expect(events.length - 1).toBe(300 * kept.length);
  });
});
