import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import type { ImportFault } from "../../../../schemas/records/import-log.js";
import { UUID } from "../../../support/api/management-world.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { openSocket } from "../../../support/imports/open-upload.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, joinProgram } from "../../../support/program/use-toolchain.js";

const ORGANIZATION = "requests";
const LINE = '{"$time":"2025-03-10T12:00:00Z"}';

joinProgram("requester", { organizations: [ORGANIZATION, "elsewhere"] });

let image: KnownArtifact;
let foreign: KnownArtifact;

beforeAll(async () => {
  image = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
  foreign = await makePackage(api, { organization: "elsewhere", name: "image", libraryType: "docker" });
});

const intoAny = () => `/v2/${ORGANIZATION}/import`;
const intoImage = () => `/v2/packages/${ORGANIZATION}/${image.id}/import`;

async function importLines(path: string, lines: readonly string[]): Promise<EventImport> {
  return api.pollToDone(await api.importBody(path, lines.join("\n")));
}

test.each([
  ["nothing", ""],
  ["blank lines", "\n\r\n \t\n"],
])("a body of %s is done with no events", async (_, body) => {
  const record = await api.pollToDone(await api.importBody(intoAny(), body));
  expect(record).toMatchObject({
    status: "done",
    events_total: 0,
    events_successfully_imported: 0,
    events_failed_to_import: 0,
    error_log_sample: [],
    warning_log_sample: [],
  });
});

describe("an import is read back", () => {
  test("by its id and in the list, newest first, page after page", async () => {
    const made = [];
    for (let count = 0; count < 3; count += 1) made.unshift(await importLines(intoAny(), []));
    const [third, second, first] = made;
    expect(await api.get(`/v2/imports/${ORGANIZATION}/${third?.id}`)).toEqual(third);
    const { event_imports, next } = await api.get<{ event_imports: EventImport[]; next: string }>(
      `/v2/imports/${ORGANIZATION}?per_page=2`,
    );
    expect(event_imports).toEqual([third, second]);
    const page = await api.get<{ event_imports: EventImport[] }>(next);
    expect(page.event_imports[0]).toEqual(first);
  });

  test("with the fields of the specification, then its origin, and no other", async () => {
    const record = await importLines(intoAny(), ["x"]);
    expect(record).toEqual({
      id: expect.stringMatching(UUID) as unknown,
      owner: ORGANIZATION,
      status: "done",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as unknown,
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as unknown,
      events_total: 1,
      events_successfully_imported: 0,
      events_failed_to_import: 1,
      events_with_warnings: 0,
      error_log_sample: [
        {
          class: "error",
          type: "failed-to-decode",
          human_friendly_message: "Not a valid JSON object",
          line: 1,
        },
      ],
      warning_log_sample: [],
      package: null,
      pixel: null,
      started_by: "requester",
      started_with_token: null,
      bytes: 1,
      bytes_unpacked: 1,
      lines_received: 1,
      lines_skipped: 0,
      finished_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as unknown,
    });
    expect(Object.keys(record).slice(10, 12)).toEqual(["warning_log_sample", "package"]);
  });

  test("with its package, and the bytes and lines that were sent", async () => {
    const plain = `${LINE}\n\n \r\nno\n${LINE}`;
    const body = gzipSync(plain);
    const headers = { "Content-Encoding": "gzip" };
    const answer = await api.request(intoImage(), { method: "POST", headers, body });
    const record = await api.pollToDone((await answer.json()) as EventImport);
    expect(record).toMatchObject({
      package: { id: image.id, name: "image" },
      pixel: null,
      bytes: body.length,
      bytes_unpacked: Buffer.byteLength(plain),
      events_total: 3,
      lines_received: 3,
    });
    expect(record.finished_at).not.toBeNull();
  });

  test("with the name of its file, one line that is not too long", async () => {
    const named = (name: string) =>
      api.request(`${intoAny()}?name=${encodeURIComponent(name)}`, { method: "POST", body: LINE });
    const name = `${"ü".repeat(196)}.log`;
    expect(await (await named(name)).json()).toMatchObject({ name });
    for (const wrong of [`a${name}`, "a\nb", ""]) {
      const answer = await named(wrong);
      expect([answer.status, await answer.json()]).toMatchObject([400, { code: "invalid-query" }]);
    }
  });

  test.each([
    ["status=done", true],
    ["status=aborted", false],
    ["status=retracting", false],
    [() => `package=${image.id}`, false],
    [() => `pixel=${image.id}`, false],
  ])("in a list of only some: %s", async (asked, has) => {
    const { id } = await importLines(intoAny(), []);
    const query = typeof asked === "string" ? asked : asked();
    const path = `/v2/imports/${ORGANIZATION}?per_page=1000&${query}`;
    const { event_imports } = await api.get<{ event_imports: EventImport[] }>(path);
    expect(event_imports.some((each) => each.id === id)).toBe(has);
  });

  test.each([() => image.id, () => "image"])(
    "in the list of its package, by id and by name",
    async (asked) => {
      const { id } = await importLines(intoImage(), []);
      const path = `/v2/imports/${ORGANIZATION}?package=${asked()}&status=done&per_page=1`;
      const { event_imports } = await api.get<{ event_imports: EventImport[] }>(path);
      expect(event_imports.map((each) => each.id)).toEqual([id]);
    },
  );

  test.each([
    [`package=${"0".repeat(8)}&pixel=x`, 400, "invalid-query"],
    ["package=image&packageType=npm", 404, "not-found"],
    ["pixel=image", 404, "not-found"],
  ])("a list of %s is refused", async (query, status, code) => {
    const answer = await api.request(`/v2/imports/${ORGANIZATION}?${query}`);
    expect([answer.status, await answer.json()]).toMatchObject([status, { code }]);
  });
});

test("the faults of an import are grouped by type, with the first lines of each", async () => {
  const bad = Array.from({ length: 7 }, (_, index) => `no ${index}`);
  const lines = [LINE, ...bad, '{"a":1}', `{"$time":"2025-03-10","$remote_address":"x","$odd":1}`];
  const { id } = await importLines(intoImage(), lines);
  const { faults } = await api.get<{ faults: ImportFault[] }>(`/v2/imports/${ORGANIZATION}/${id}/faults`);
  expect(faults.map(({ class: each, type, count }) => [each, type, count])).toEqual([
    ["error", "failed-to-decode", 7],
    ["error", "missing-time", 1],
    ["warning", "invalid-remote-address", 1],
    ["warning", "unknown-property", 1],
  ]);
  expect(faults[0]?.examples).toEqual(
    bad.slice(0, 5).map((text, index) => ({
      line: index + 2,
      human_friendly_message: "Not a valid JSON object",
      text,
    })),
  );
});

describe("a request for an import that cannot begin", () => {
  test.each([
    [
      "with an encoding that is not known",
      intoAny,
      { "Content-Encoding": "lzma" },
      415,
      "unsupported-encoding",
    ],
    [
      "into a package of another owner than the path's",
      () => `/v2/packages/${ORGANIZATION}/${foreign.id}/import`,
      {},
      404,
      "not-found",
    ],
  ])("%s is refused and leaves no import", async (_, path, headers, status, code) => {
    const list = `/v2/imports/${ORGANIZATION}`;
    const before = await api.get(list);
    const answer = await api.request(path(), { method: "POST", headers, body: LINE });
    expect([answer.status, await answer.json()]).toMatchObject([status, { code }]);
    expect(await api.get(list)).toEqual(before);
  });
});

describe("a body is asked for with 100 Continue", () => {
  const headers = [`Content-Length: ${LINE.length}`, "Expect: 100-continue"];

  test("once its import has begun", async () => {
    const upload = await openSocket(api, { path: intoImage(), headers });
    await expect.poll(() => upload.answered()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    await upload.send(LINE);
    await expect.poll(() => upload.answered()).toMatch(/ 100 Continue\r\n\r\nHTTP\/1.1 200 /);
    upload.breakOff();
  });

  test.each([
    ["a wrong token", 401, intoImage, () => ({ ...api, token: "wrong" }), []],
    ["an unknown package", 404, () => `/v2/packages/${ORGANIZATION}/none/import`, () => api, []],
    ["an unknown encoding", 415, intoImage, () => api, ["Content-Encoding: lzma"]],
  ])("and not with %s (%i)", async (_, status, path, as, more) => {
    const refused = await openSocket(as(), { path: path(), headers: [...headers, ...more] });
    expect(await refused.closed).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\nConnection: close\r\n`));
  });
});

test("a body in another format leaves neither an import nor its audit entry, and frees its key", async () => {
  // Imports of other tests may become done meanwhile.
  const idsAt = async (path: string) => JSON.stringify(await api.get(path)).match(/"id":"[^"]+"/g);
  const ids = async () => [
    await idsAt(`/v2/imports/${ORGANIZATION}`),
    await idsAt(`/v2/${ORGANIZATION}/audit`),
  ];
  const before = await ids();
  const headers = { "Idempotency-Key": "another-format" };
  const send = async (body: string) =>
    (await api.request(intoImage(), { method: "POST", headers, body })).status;
  expect(await send("[]")).toBe(422);
  expect(await ids()).toEqual(before);
  expect(await send(LINE)).toBe(200);
});

test.each(["application/ndjson", "application/x-ndjson", "application/json", "text/plain", ""])(
  "a body of type '%s' is imported",
  async (type) => {
    const headers: Record<string, string> = type === "" ? {} : { "Content-Type": type };
    const body = Buffer.from(LINE);
    const answer = await api.request(intoImage(), { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    const record = await api.pollToDone((await answer.json()) as EventImport);
    expect(record).toMatchObject({ status: "done", events_successfully_imported: 1 });
  },
);
