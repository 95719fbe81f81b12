import type { ServerResponse } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SourceRecord } from "../../../../schemas/contracts/source.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { startServer } from "../../../support/collect/start-server.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { firstDifference } from "../../../support/imports/recount-aggregates.js";
import { type ImportTarget, makeTarget } from "../../../support/imports/import-target.js";
import { openUpload } from "../../../support/imports/open-upload.js";
import { api, restart, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";
import { newestImport, startUpload } from "../../../support/imports/start-upload.js";

const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** The look at a source's name, before it is made, is answered; the first run is not. */
const unanswered: ServerResponse[] = [];
let answersLeft = 1;
const registry = await startServer((_, response) => {
  if (answersLeft-- <= 0) return void unanswered.push(response);
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ downloads: [{ day: "2026-08-01", downloads: 120 }] }));
});
afterAll(() => registry[Symbol.asyncDispose]());

const organization = "broken";
useToolchain({ organizations: [organization], env: { SOURCES_URLS: `npm=${registry.url}` } });

let made = 0;
let target: ImportTarget;
let path: string;
/** Imported before the upload that breaks off. */
let kept: Buffer;
/** The body of that upload: a third of its lines override what is kept. */
let broken: Buffer;

async function openPackage(): Promise<void> {
  made += 1;
  target = await makeTarget(api, { organization, name: `files-${made}` });
  ({ path } = target);
  kept = target.bodyOf({ count: 3_000, startAt: 0 });
  broken = target.bodyOf({ count: 6_000, startAt: 3_000 });
  await target.send(api, kept);
}

const newest = async () => (await newestImport(api, organization)) as EventImport;

/** Nothing of the broken upload is there now, nor when whatever is behind it has come through. */
async function expectNothingStays(): Promise<void> {
  await target.expectExports(api, kept);
  const later = target.bodyOf({ count: 1_000, startAt: 9_000 });
  await target.send(api, later);
  await target.expectExports(api, kept, later);
}

const ABORTED = {
  status: "aborted",
  events_successfully_imported: 0,
  error_log_sample: expect.arrayContaining([
    {
      class: "error",
      type: "upload-interrupted",
      line: 0,
      human_friendly_message: expect.stringContaining("nothing was imported") as unknown,
    },
  ]) as unknown,
};

describe("an upload whose sender breaks off", () => {
  beforeEach(openPackage);

  test("is aborted, and what it had overridden is back", async () => {
    const upload = openUpload(api, path);
    await upload.send(broken.subarray(0, broken.length - 100));
    // Its first chunks are in the exports already: settled, and earlier events overridden.
    const before = target.recount(kept).aggregates;
    const difference = async () => firstDifference(await target.readExports(api), before);
    await expect.poll(difference, { interval: 250 }).not.toBe("");
    upload.breakOff();
    await expect.poll(newest).toMatchObject(ABORTED);
    await expectNothingStays();
  });

  test("before a line was sent is aborted", async () => {
    const { upload } = await startUpload(api, { owner: organization, path });
    upload.breakOff();
    await expect.poll(newest).toMatchObject(ABORTED);
    await expectNothingStays();
  });
});

describe("a body that cannot be decompressed", () => {
  beforeAll(openPackage);

  test.each([
    ["ends early", "gzip", (whole: Buffer) => whole.subarray(0, whole.length - 1_000)],
    ["lacks its trailer", "gzip", (whole: Buffer) => whole.subarray(0, whole.length - 8)],
    ["is damaged in the middle", "gzip", (whole: Buffer) => damaged(whole, whole.length >> 1)],
    ["has a wrong checksum", "gzip", (whole: Buffer) => damaged(whole, whole.length - 7)],
    ["is not gzip", "gzip", () => broken],
    ["is not deflate", "deflate", (whole: Buffer) => whole],
    ["is not br", "br", () => broken],
    ["goes on after its end", "br", () => Buffer.concat([brotliCompressSync(broken, QUICKLY), broken])],
  ])("because it %s is refused and its import aborted (%s)", async (_, encoding, make) => {
    const body = make(gzipSync(broken, { level: 1 }));
    const headers = { "Content-Encoding": encoding };
    const answer = await api.request(path, { method: "POST", headers, body });
    expect({ status: answer.status, body: (await answer.json()) as unknown }).toMatchObject({
      status: 422,
      body: { code: "invalid-body", message: expect.stringContaining("Content-Encoding") as unknown },
    });
    expect(await newest()).toMatchObject(ABORTED);
  });

  test("leaves nothing behind, however much of it could be read", expectNothingStays);
});

describe("a program that is killed", () => {
  let source: SourceRecord;
  beforeAll(openPackage);

  // The fault suites kill the program at named points of an import whose upload was answered.
  test("under an upload aborts it when its lease is over, and nothing of it stays", async () => {
    source = await api.post<SourceRecord>(`/v2/${organization}/sources`, { kind: "npm", name: "left-pad" });
    await expect.poll(() => unanswered.length).toBe(1);
    const { upload, started } = await startUpload(api, { owner: organization, path });
    await upload.send(broken);
    const record = () => api.get<EventImport>(`/v2/imports/${organization}/${started.id}`);
    // Some of it is written when the program dies.
    await expect.poll(async () => (await record()).events_total).toBeGreaterThan(0);
    expect(await toolchain.kill("SIGKILL")).toBe("SIGKILL");
    await expect(upload.answer).rejects.toThrow();
    answersLeft = Infinity;
    await restart();
    await expect.poll(record, { interval: 500 }).toMatchObject(ABORTED);
    await expectNothingStays();
  });

  test("while it asks a registry asks again when the lease of the run is over, and counts once", async () => {
    const ask = (text: string) =>
      onPostgres(
        toolchain.endpoints.postgres,
        async (client) => (await client.query(text, [source.id])).rows as unknown,
      );
    const isLeased = "select next_run_at < now() + interval '10 minutes' as soon from sources where id = $1";
    expect(await ask(isLeased)).toEqual([{ soon: true }]);
    // As if the lease were over.
    await ask("update sources set next_run_at = now() where id = $1");
    const counts =
      "select date::text, value::int, first_value::int from reported_counts where source_id = $1";
    await expect.poll(() => ask(counts)).toEqual([{ date: "2026-08-01", value: 120, first_value: 120 }]);
  });
});

function damaged(whole: Buffer, at: number): Buffer {
  const copy = Buffer.from(whole);
  copy.fill(0x5a, at, at + 4);
  return copy;
}
