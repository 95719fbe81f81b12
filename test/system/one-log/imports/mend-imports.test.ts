import { type IncomingMessage, get } from "node:http";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import type { LogEntry } from "../../../../schemas/records/import-log.js";
import { firstDifference } from "../../../support/imports/recount-aggregates.js";
import { type ImportTarget, makeTarget } from "../../../support/imports/import-target.js";
import { retract } from "../../../support/imports/import-outcome.js";
import { joinImportWorld } from "../../../support/imports/import-world.js";
import { setLevel, textOf } from "../../../support/api/management-world.js";
import type { Program } from "../../../support/program/program.js";
import { startUpload } from "../../../support/imports/start-upload.js";

const organization = "mending";

let toolchain: Program;
let api: ApiClient;
let made = 0;
let target: ImportTarget;
let path: string;

beforeAll(async () => {
  ({ toolchain, api } = await joinImportWorld(organization));
});

beforeEach(async () => {
  made += 1;
  target = await makeTarget(api, { organization, name: `files-${made}` });
  ({ path } = target);
});

/** Reads once. */
async function expectAtOnce(...bodies: Buffer[]): Promise<void> {
  expect(firstDifference(await target.readExports(api), target.recount(...bodies).aggregates)).toBe("");
}

const pathOf = ({ id }: { id: string }) => `/v2/imports/${organization}/${id}`;

function send(method: string, to: string, token = api.token): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, Connection: "close" };
  return fetch(new URL(to, api.url), { method, headers });
}

const finished = (body: Buffer): Promise<EventImport> => target.send(api, body);

describe("retracting an import", () => {
  test("takes its events back, brings back what they had overridden, and leaves later overrides", async () => {
    const [first, second, third] = [0, 2_000, 4_000].map((startAt) =>
      target.bodyOf({ count: 2_000, startAt }),
    );
    await finished(first as Buffer);
    const mistake = await finished(second as Buffer);
    await finished(third as Buffer);
    for (let time = 0; time < 2; time++) {
      await retract(api, pathOf(mistake));
      await expectAtOnce(first as Buffer, third as Buffer);
    }
    expect(await api.get<EventImport>(pathOf(mistake))).toMatchObject({ status: "done" });
  });

  test("is refused while the import runs", async () => {
    const { upload, started } = await startUpload(api, { owner: organization, path });
    const answer = await send("DELETE", pathOf(started));
    expect([answer.status, await answer.json()]).toEqual([
      409,
      expect.objectContaining({ code: "import-in-progress" }),
    ]);
    upload.breakOff();
  });
});

describe("aborting an import", () => {
  test("ends its upload at once, and twice is the same", async () => {
    const { upload, started: running } = await startUpload(api, { owner: organization, path });
    await upload.send(target.bodyOf({ count: 100, startAt: 0 }));
    expect((await send("POST", `${pathOf(running)}/abort`)).status).toBe(204);
    expect(await upload.answer).toMatchObject({ status: 409, body: { code: "already-finished" } });
    expect((await send("POST", `${pathOf(running)}/abort`)).status).toBe(204);
    expect(await api.get<EventImport>(pathOf(running))).toMatchObject({ status: "aborted" });
  });

  test("with retract removes what was imported", async () => {
    const kept = target.bodyOf({ count: 2_000, startAt: 0 });
    await finished(kept);
    const { upload, started } = await startUpload(api, { owner: organization, path });
    await upload.send(target.bodyOf({ count: 6_000, startAt: 2_000 }));
    expect((await send("POST", `${pathOf(started)}/abort?retract=true`)).status).toBe(204);
    await target.expectExports(api, kept);
  });

  test("of a finished one is refused", async () => {
    const done = await finished(target.bodyOf({ count: 10, startAt: 0 }));
    const answer = await send("POST", `${pathOf(done)}/abort`);
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: "already-finished" }]);
  });

  test("of what is no id is not found", async () => {
    expect((await send("POST", `${pathOf({ id: organization })}/abort`)).status).toBe(404);
  });
});

describe("someone who administers a package, but not its owner", () => {
  test("reads, aborts and retracts the imports into that package, and sees no other", async () => {
    const helper = await toolchain.newAccount(`helper-${made}`);
    const pool = new pg.Pool({ connectionString: toolchain.endpoints.postgres });
    await setLevel(pool, { packageId: target.artifact.id, username: `helper-${made}`, level: "admin" });
    await pool.end();
    const own = await helper.pollToDone(await helper.importBody(path, '{"$time":"2025-03-11"}'));
    const inOther = await api.importBody(`/v2/${organization}/import`, '{"$time":"2025-03-11"}');
    const statuses = async (...asked: [string, string][]) =>
      Promise.all(asked.map(async ([method, to]) => (await send(method, to, helper.token)).status));
    expect(
      await statuses(
        ["GET", `${pathOf(own)}/log`],
        ["POST", `${pathOf(own)}/abort`],
        ["DELETE", pathOf(own)],
        ["GET", pathOf(inOther)],
        ["DELETE", pathOf(inOther)],
        ["GET", `/v2/imports/${organization}`],
      ),
    ).toEqual([200, 409, 204, 404, 404, 404]);
  });
});

describe("the log of an import", () => {
  const lines = [
    '{"$time":"2025-03-11","$unique_id":"good"}',
    "not json \u{1F600}",
    "",
    '{"$time":"soon"}\r',
    '{"$time":"2025-03-11","$mystery":1}',
  ];

  test("has every entry, and the refused lines byte for byte, so that they can be mended and sent again", async () => {
    const done = await finished(Buffer.from(lines.join("\n")));
    const log = await api.readLines(`${pathOf(done)}/log`);
    const entries = log.map((line) => JSON.parse(line) as LogEntry);
    expect(entries.map(({ line, class: kind, type }) => `${line} ${kind} ${type}`)).toEqual([
      "2 error failed-to-decode",
      "4 error invalid-time",
      "5 warning unknown-property",
    ]);
    const rejected = await (await send("GET", `${pathOf(done)}/rejected`)).text();
    expect(rejected).toBe(`${lines[1]}\n${lines[3]}\n`);
    const mended = rejected.replace(/^not json.*$/m, '{"$time":"2025-03-12"}').replace("soon", "2025-03-13");
    expect(await finished(Buffer.from(mended))).toMatchObject({
      events_total: 2,
      events_successfully_imported: 2,
      events_failed_to_import: 0,
    });
  });

  test("begins with what is said about the whole import, counted by the trailer", async () => {
    const { upload, started } = await startUpload(api, { owner: organization, path });
    await upload.send(`${lines.join("\n")}\n${"x".repeat(600_000)}\n`);
    await expect.poll(() => api.get<EventImport>(pathOf(started))).toMatchObject({ events_total: 5 });
    upload.breakOff();
    await expect.poll(() => api.get<EventImport>(pathOf(started))).toMatchObject({ status: "aborted" });
    const { text, rows } = await readLog(started);
    const entries = text.trimEnd().split("\n");
    expect(entries[0]).toMatch(
      /^\{"class":"error","type":"upload-interrupted","human_friendly_message":"[^"]+","line":0\}$/,
    );
    expect(entries.map((entry) => (JSON.parse(entry) as LogEntry).line)).toEqual([0, 2, 4, 5, 6]);
    expect(rows).toBe("5");
  });

  test("says that an import was retracted, before its lines", async () => {
    const done = await finished(Buffer.from(lines.join("\n")));
    await retract(api, pathOf(done));
    const { text, rows } = await readLog(done);
    expect(text).toMatch(
      /^\{"class":"info","type":"retracted","human_friendly_message":"[^"]+","line":0\}\n\{"class":"error"/,
    );
    expect(rows).toBe("4");
  });
});

/** The log of an import as text, and what its trailer says. */
async function readLog(of: EventImport): Promise<{ text: string; rows: string | undefined }> {
  const headers = { Authorization: `Bearer ${api.token}`, TE: "trailers" };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(new URL(`${pathOf(of)}/log`, api.url), { headers, agent: false }, resolve).once("error", reject);
  });
  const text = await textOf(response);
  return { text, rows: response.trailers["x-row-count"] };
}
