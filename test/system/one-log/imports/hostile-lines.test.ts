import { beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import type { LogEntry } from "../../../../schemas/records/import-log.js";
import { makeExporter } from "../../../support/imports/import-world.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { openSocket } from "../../../support/imports/open-upload.js";
import { type Program, sharedProgram } from "../../../support/program/program.js";
import { newestImport } from "../../../support/imports/start-upload.js";

const ORGANIZATION = "odd";
const TIME = '"$time":"2025-03-10T12:00:00Z"';
const RANGE = { startDate: "2025-03-10", endDate: "2025-03-11" };
const LINE = `{${TIME}}\n`;

let toolchain: Program;
let api: ApiClient;
let made = 0;

beforeAll(async () => {
  toolchain = await sharedProgram();
  api = await makeExporter(toolchain, ORGANIZATION, "odd-ada");
});

async function newPackage(): Promise<{ id: string; path: string }> {
  made += 1;
  const named = { organization: ORGANIZATION, name: `files-${made}`, libraryType: "other" } as const;
  const { id } = await makePackage(api, named);
  return { id, path: `/v2/packages/${ORGANIZATION}/${id}/import` };
}

/** Latin-1: one character of the source is one byte of the line. */
const bytesOf = (line: string) => Buffer.from(line, "latin1");
const BYTE_ORDER_MARK = "\xef\xbb\xbf";

describe("a line that is no text or no JSON object is refused and given back byte for byte:", () => {
  test.each([
    ["NUL between its values", `{${TIME},\0"a":1}`, "failed-to-decode"],
    ["NUL in a string", `{${TIME},"a":"\0"}`, "failed-to-decode"],
    ["bytes that are no UTF-8 between its values", `{${TIME},\xff"a":1}`, "failed-to-decode"],
    ["a lone CR between two objects", `{${TIME}}\r{${TIME}}`, "failed-to-decode"],
    [
      "a byte-order mark that is not at the start of the body",
      `${BYTE_ORDER_MARK}{${TIME}}`,
      "failed-to-decode",
    ],
    ["UTF-16", [...`{${TIME}}`].map((character) => `${character}\0`).join(""), "failed-to-decode"],
    ["__proto__ with what it lacks", '{"__proto__":{"$time":"2025-03-10"}}', "missing-time"],
    ["a $unique_id beyond 2^53", `{${TIME},"$unique_id":9007199254740993}`, "invalid-value"],
    ["a $unique_id of Infinity", `{${TIME},"$unique_id":1e999}`, "invalid-value"],
    ["a $time beyond 2^53", '{"$time":9007199254740993}', "invalid-time"],
    ["a $time of Infinity", '{"$time":1e999}', "invalid-time"],
    ["a $time of 300 digits", `{"$time":"${"9".repeat(300)}"}`, "invalid-time"],
    ["a $time that is repeated and wrong", `{${TIME},"$time":"never"}`, "invalid-time"],
    [
      "a $type that is nested 10,000 deep",
      `{${TIME},"$type":${"[".repeat(1e4)}${"]".repeat(1e4)}}`,
      "invalid-value",
    ],
  ])("%s", async (_, line, type) => {
    const { path } = await newPackage();
    const body = Buffer.concat([Buffer.from(LINE), bytesOf(line), Buffer.from(`\n${LINE}`)]);
    const done = await api.pollToDone(await api.importBody(path, body));
    expect(done).toMatchObject({ events_total: 3, events_failed_to_import: 1 });
    expect(done.error_log_sample).toMatchObject([{ line: 2, class: "error", type }]);
    const log = await (await api.request(`/v2/imports/${ORGANIZATION}/${done.id}/log`)).text();
    expect(JSON.parse(log) as LogEntry).toEqual(done.error_log_sample[0]);
    const rejected = await api.request(`/v2/imports/${ORGANIZATION}/${done.id}/rejected`);
    expect(Buffer.from(await rejected.arrayBuffer()).toString("latin1")).toBe(`${line}\n`);
  });
});

describe("a line with something odd in it is imported, and the odd thing is", () => {
  test.each([
    ["no UTF-8: replaced", '"a":"\xff"', [["a", "\ufffd"]]],
    ["half a surrogate pair, escaped: replaced", '"a":"x\\ud800"', [["a", "x\ufffd"]]],
    ["half a surrogate pair, as bytes: replaced", '"a":"\xed\xa0\x80"', [["a", "\ufffd\ufffd\ufffd"]]],
    ["an escaped NUL: a space", '"a":"x\\u0000y"', [["a", "x y"]]],
    ["a key given twice: the later one", '"a":1,"a":2', [["a", "2"]]],
    ["beyond 2^53: the nearest number", '"a":9007199254740993', [["a", "9007199254740992"]]],
    ["__proto__: a name like any other", '"__proto__":{"b":1}', [["__proto__.b", "1"]]],
    ["__proto__, deeper: a name like any other", '"a":{"__proto__":{"b":1}}', [["a.__proto__.b", "1"]]],
    [
      "constructor: a name like any other",
      '"constructor":{"prototype":{"b":1}},"toString":"x","hasOwnProperty":1',
      [
        ["constructor.prototype.b", "1"],
        ["hasOwnProperty", "1"],
        ["toString", "x"],
      ],
    ],
  ])("%s", async (_, fields, variables) => {
    const { id, path } = await newPackage();
    const done = await api.pollToDone(await api.importBody(path, bytesOf(`{${TIME},${fields}}\r\n`)));
    expect(done).toMatchObject({ events_total: 1, events_successfully_imported: 1, warning_log_sample: [] });
    const lines = (await api.readAggregates(ORGANIZATION, RANGE)).filter((line) => line.package === id);
    const shown = lines.flatMap(({ variable, value }) => (variable === undefined ? [] : [[variable, value]]));
    expect(shown).toEqual(variables);
  });

  test("a byte-order mark at the start of the body: not there", async () => {
    const { path } = await newPackage();
    const done = await api.pollToDone(await api.importBody(path, bytesOf(`${BYTE_ORDER_MARK}${LINE}`)));
    expect(done).toMatchObject({ events_total: 1, events_successfully_imported: 1 });
  });
});

describe("a length that lies", () => {
  test("and is too large leaves an aborted import", async () => {
    const { path } = await newPackage();
    const upload = await openSocket(api, { path, headers: [`Content-Length: ${LINE.length + 1}`] });
    await upload.send(LINE);
    upload.end();
    await upload.closed;
    await expect.poll(newest).toMatchObject({
      status: "aborted",
      error_log_sample: [{ type: "upload-interrupted", line: 0 }],
    });
  });

  test("and is too small imports as many bytes, and what comes after them is no request", async () => {
    const { path } = await newPackage();
    const declared = LINE.length * 2 - 3;
    const upload = await openSocket(api, { path, headers: [`Content-Length: ${declared}`] });
    await upload.send(LINE.repeat(2).slice(0, declared));
    await expect.poll(() => upload.answered()).toMatch(/^HTTP\/1.1 200 /);
    await upload.send(`${LINE.repeat(2).slice(declared)}${LINE}`);
    expect(await upload.closed).toMatch(/HTTP\/1.1 400 /);
    expect(await api.pollToDone(await newest())).toMatchObject({
      events_total: 2,
      events_successfully_imported: 1,
      error_log_sample: [{ line: 2, type: "failed-to-decode" }],
    });
  });

  test.each([
    ["beside chunks", ["Content-Length: 10", "Transfer-Encoding: chunked"]],
    ["that is given twice", ["Content-Length: 10", "Content-Length: 11"]],
    ["below zero", ["Content-Length: -1"]],
    ["that is no number", ["Content-Length: many"]],
  ])("%s is refused before there is an import", async (_, headers) => {
    const { path } = await newPackage();
    const before = await newestImport(api, ORGANIZATION);
    const upload = await openSocket(api, { path, headers });
    expect(await upload.closed).toMatch(/^HTTP\/1.1 400 /);
    expect(await newestImport(api, ORGANIZATION)).toEqual(before);
  });
});

const newest = async () => (await newestImport(api, ORGANIZATION)) as EventImport;
