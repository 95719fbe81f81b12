import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { LogEntry } from "../../../schemas/records/import-log.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import { startUpload } from "../../support/imports/start-upload.js";
import { readMetrics, type Metrics } from "../../support/program/read-metrics.js";
import { onPostgres } from "../../support/stores/on-postgres.js";
import { api, restart, toolchain, useToolchain } from "../../support/program/use-toolchain.js";
import { useFolder } from "../../support/use-folder.js";

const ORGANIZATION = "poisoned";
const folder = useFolder("toolchain-poison");
const RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };

let made = 0;

/**
 * A fault of the program that some lines run into, until a file says that it was mended: reading a header's name is
 * what every such line does.
 */
const FAULTY = (curedFile: string) => `
  import { existsSync } from "node:fs";
  import { isMainThread } from "node:worker_threads";
  const { toLowerCase } = String.prototype;
  String.prototype.toLowerCase = function () {
    const text = String(this);
    if (!text.startsWith("X-Poison-") || existsSync(${JSON.stringify(curedFile)})) return toLowerCase.call(this);
    if (text === "X-Poison-Ends" && !isMainThread) process.exit(3);
    throw new Error("a fault of the program");
  };`;

const faulty = join(folder, "faulty.mjs");
beforeAll(() => writeFile(faulty, FAULTY(join(folder, "cured"))));
useToolchain({
  organizations: [ORGANIZATION],
  env: { NODE_OPTIONS: `--import=${faulty}`, ENRICH_WORKERS: "2" },
});

async function newPackage(): Promise<{ id: string; path: string }> {
  const name = `image-${++made}`;
  const { id } = await makePackage(api, { organization: ORGANIZATION, name, libraryType: "docker" });
  return { id, path: `/v2/packages/${ORGANIZATION}/${id}/import` };
}

/** Lines of about 1 KB: a chunk holds some 500 of them. */
function linesOf(count: number, poison: { at: number; header: string } = { at: -1, header: "" }): string[] {
  const padding = "x".repeat(900);
  return Array.from({ length: count }, (_, index) => {
    const headers = index === poison.at ? [{ name: poison.header, value: "1" }] : undefined;
    return JSON.stringify({
      $time: "2025-03-10T12:00:00Z",
      $unique_id: `u${index}`,
      $headers: headers,
      padding,
    });
  });
}

const bodyOf = (lines: readonly string[]) => Buffer.from(`${lines.join("\n")}\n`);

async function imported(path: string, lines: readonly string[]): Promise<EventImport> {
  return api.pollToDone(await api.importBody(path, bodyOf(lines)));
}

const pathOf = ({ id }: { id: string }) => `/v2/imports/${ORGANIZATION}/${id}`;
const textOf = async (path: string) => (await api.request(path)).text();
const logOf = async (record: EventImport) =>
  (await api.readLines(`${pathOf(record)}/log`)).map((line) => JSON.parse(line) as LogEntry);

interface Listed {
  id: number;
  importId: string | null;
  owner: string | null;
  firstLine: number;
  lines: number;
  tries: number;
  reason: string;
}

const waitingLetters = async () =>
  (await toolchain.admin("dead-letters", "list", "--json"))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Listed);

async function recordOf(id: number | undefined): Promise<Buffer> {
  const text = "select record from dead_letters where id = $1";
  return onPostgres(toolchain.endpoints.postgres, async (client) => {
    const { rows } = await client.query<{ record: Buffer }>(text, [id]);
    return rows[0]?.record ?? Buffer.alloc(0);
  });
}

const metric = async (...of: Parameters<Metrics["sum"]>) => (await readMetrics(toolchain)).sum(...of);
const deadLetters = () => metric("enrich_chunks_total", { outcome: "dead-letter" });
const enriched = () => metric("enrich_chunks_total", { outcome: "enriched" });

async function totalOf(packageId: string): Promise<number> {
  const rows = await api.readAggregates(ORGANIZATION, RANGE);
  return rows
    .filter((row) => row.package === packageId && row.breakdown === "total")
    .reduce((sum, { total }) => sum + total, 0);
}

async function appendToEveryPartition(record: Buffer): Promise<number> {
  await using log = await toolchain.openLog();
  for (let partition = 0; partition < log.partitions; partition++) await log.append([record], { partition });
  return log.partitions;
}

describe("a record that is no chunk", () => {
  test("becomes a dead letter, its partition goes on, and an operator can drop it", async () => {
    const { id, path } = await newPackage();
    const before = await deadLetters();
    const partitions = await appendToEveryPartition(Buffer.from("no envelope\nof ours\n"));
    const record = await imported(path, linesOf(1_200));
    expect(record).toMatchObject({ status: "done", events_successfully_imported: 1_200 });
    await expect.poll(() => metric("enrich_dead_letters")).toBe(partitions);
    await expect.poll(deadLetters).toBe(before + partitions);
    expect(toolchain.log()).toMatch(/"level":50.*"partition":\d.*became a dead letter/);
    const waiting = await waitingLetters();
    expect(waiting[0]?.reason).toContain("If an import stays in the status `importing`, abort it.");
    expect(waiting).toEqual(
      Array.from(
        { length: partitions },
        () => expect.objectContaining({ importId: null, owner: null, lines: 2 }) as Listed,
      ),
    );
    const ids = waiting.map((chunk) => String(chunk.id));
    await expect(toolchain.admin("dead-letters", "drop", "999", ...ids)).rejects.toThrow(
      "There is no open dead letter with the id 999",
    );
    expect(await toolchain.admin("dead-letters", "drop", ...ids)).toBe(
      `${partitions} dead letters were dropped.`,
    );
    expect(await toolchain.admin("dead-letters", "list")).toBe("No dead letters.");
    expect(await metric("enrich_dead_letters")).toBe(0);
    expect(await totalOf(id)).toBe(1_200);
  });
});

describe("a chunk that the program cannot process", () => {
  const poison = { at: 700, header: "X-Poison-Throws" };

  test("fails alone, is told to its sender, and counts as imported once it was tried again with success", async () => {
    const { id, path } = await newPackage();
    const lines = linesOf(2_000, poison);
    const record = await imported(path, lines);
    const [chunk, ...others] = await waitingLetters();
    expect(others).toEqual([]);
    expect(chunk).toMatchObject({ importId: record.id, owner: ORGANIZATION, tries: 3 });
    expect(chunk?.reason).toContain("a fault of the program");
    const { firstLine = 0, lines: failed = 0 } = chunk ?? {};
    expect(record).toMatchObject({
      status: "done",
      events_total: 2_000,
      events_failed_to_import: failed,
      events_successfully_imported: 2_000 - failed,
      error_log_sample: [{ class: "error", type: "dead-letter", line: firstLine }],
    });
    expect(await logOf(record)).toEqual(record.error_log_sample);
    const sent = lines.slice(firstLine - 1, firstLine - 1 + failed);
    expect(sent).toContain(lines[poison.at]);
    expect(await textOf(`${pathOf(record)}/rejected`)).toBe(`${sent.join("\n")}\n`);
    expect(await totalOf(id)).toBe(2_000 - failed);

    // Later imports through the same partitions, one of which overrides events of the chunk.
    const later = await imported(path, lines.slice(600, 620));
    expect(later).toMatchObject({ status: "done", events_successfully_imported: 20 });

    // Retried too early, it becomes a dead letter once more, and nothing else changes.
    expect(await toolchain.admin("dead-letters", "retry", String(chunk?.id))).toMatch(
      /^1 dead letter was appended/,
    );
    await expect
      .poll(async () => (await waitingLetters()).map((each) => each.id > (chunk?.id ?? 0)))
      .toEqual([true]);
    expect(await api.get<EventImport>(pathOf(record))).toMatchObject({ events_failed_to_import: failed });
    expect(await logOf(record)).toHaveLength(1);

    const again = await recordOf((await waitingLetters())[0]?.id);
    await writeFile(join(folder, "cured"), "");
    expect(await toolchain.admin("dead-letters", "retry", "--all")).toMatch(/^1 dead letter was appended/);
    await expect
      .poll(() => api.get<EventImport>(pathOf(record)))
      .toMatchObject({
        status: "done",
        events_total: 2_000,
        events_successfully_imported: 2_000,
        events_failed_to_import: 0,
        error_log_sample: [],
      });
    expect(await logOf(record)).toEqual([]);
    expect(await textOf(`${pathOf(record)}/rejected`)).toBe("");
    await expect.poll(() => totalOf(id)).toBe(2_000);
    expect(await waitingLetters()).toEqual([]);

    // As a retry does that was cut short before it could say so, and was repeated.
    const before = await enriched();
    const copies = await appendToEveryPartition(again);
    await expect.poll(enriched).toBe(before + copies);
    await expect.poll(() => totalOf(id)).toBe(2_000);
    expect(await api.get<EventImport>(pathOf(record))).toMatchObject({ status: "done", events_total: 2_000 });
    await rm(join(folder, "cured"));
  });

  test("is not tried again into an import that was aborted, and others are all the same", async () => {
    const { path } = await newPackage();
    await imported(path, linesOf(10, { ...poison, at: 5 }));
    const [open] = await waitingLetters();
    const { upload, started } = await startUpload(api, { owner: ORGANIZATION, path });
    await upload.send(bodyOf(linesOf(1_500, poison)));
    await expect.poll(async () => (await waitingLetters()).length).toBe(2);
    const [, chunk] = await waitingLetters();
    expect(chunk?.importId).toBe(started.id);
    await api.request(`${pathOf(started)}/abort`, { method: "POST" });
    await upload.answer.catch(() => undefined);
    const refused = `Not retried: ${chunk?.id}. Their import was aborted`;
    await expect(toolchain.admin("dead-letters", "retry", String(chunk?.id))).rejects.toThrow(refused);
    await expect(
      toolchain.admin("dead-letters", "retry", String(chunk?.id), String(open?.id), "999"),
    ).rejects.toThrow(
      new RegExp(
        `1 dead letter was appended to the event log again. ${refused}.*There is no open dead letter with the id 999`,
      ),
    );
    // The other one fails again.
    await expect
      .poll(async () => (await waitingLetters()).map(({ importId }) => importId))
      .toEqual([started.id, open?.importId]);
    await expect(toolchain.admin("dead-letters", "retry", "--all")).rejects.toThrow(
      `1 dead letter was appended`,
    );
    await expect.poll(async () => (await waitingLetters()).length).toBe(2);
    await toolchain.admin("dead-letters", "drop", ...(await waitingLetters()).map(({ id }) => String(id)));
  });

  test("becomes a dead letter as well when it ends the thread that enriches it, and a killed program goes on counting", async () => {
    const { id, path } = await newPackage();
    const lines = linesOf(1_500, { at: 100, header: "X-Poison-Ends" });
    const started = await api.importBody(path, bodyOf(lines));
    await expect.poll(() => toolchain.log()).toMatch(/(an enrichment worker ended[^]*){2}/);
    expect(await toolchain.kill("SIGKILL")).toBe("SIGKILL");
    await restart();
    const record = await api.pollToDone(started);
    const [chunk] = await waitingLetters();
    expect(chunk).toMatchObject({ importId: record.id, firstLine: 1 });
    expect(chunk?.reason).toMatch(/^the worker crashed 5 times/);
    const failed = chunk?.lines ?? 0;
    expect(record).toMatchObject({ status: "done", events_total: 1_500, events_failed_to_import: failed });
    expect(failed).toBeGreaterThan(100);
    expect(await totalOf(id)).toBe(1_500 - failed);

    // Without a running server it waits in the log.
    await toolchain.kill("SIGTERM");
    await writeFile(join(folder, "cured"), "");
    expect(await toolchain.admin("dead-letters", "retry", String(chunk?.id))).toMatch(
      /^1 dead letter was appended/,
    );
    await restart();
    await expect
      .poll(() => api.get<EventImport>(pathOf(record)))
      .toMatchObject({ events_successfully_imported: 1_500, events_failed_to_import: 0 });
    await expect.poll(() => totalOf(id)).toBe(1_500);
    await rm(join(folder, "cured"));
  });
});

test("lines that name a package by what PostgreSQL cannot store are refused, and their import is done", async () => {
  const hostile = ["\\u0000", "\\ud800", "a\\u0000b\\udfff"];
  const lines = hostile.flatMap((name) => [
    `{"$package":"${name}","$time":"2025-03-10"}`,
    `{"$pixel":"${name}","$time":"${name}"}`,
    `{"$time":"2025-03-10","$${name}":1,"$type":"${name}","$unique_id":"${name}"}`,
  ]);
  const record = await imported(`/v2/${ORGANIZATION}/import`, lines);
  expect(record).toMatchObject({ status: "done", events_total: 9, events_failed_to_import: 9 });
  expect(await waitingLetters()).toEqual([]);
});
