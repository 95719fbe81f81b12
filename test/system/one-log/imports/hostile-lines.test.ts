import { describe, expect, test } from "vitest";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import type { LogEntry } from "../../../../schemas/records/import-log.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { openSocket } from "../../../support/imports/open-upload.js";
import { api, joinProgram } from "../../../support/program/use-toolchain.js";
import { newestImport } from "../../../support/imports/start-upload.js";

const ORGANIZATION = "odd";
const TIME = '"$time":"2025-03-10T12:00:00Z"';
const RANGE = { startDate: "2025-03-10", endDate: "2025-03-11" };
const LINE = `{${TIME}}\n`;

joinProgram("odd-ada", { organizations: [ORGANIZATION] });

let made = 0;

async function newPackage(): Promise<{ id: string; path: string }> {
  made += 1;
  const named = { organization: ORGANIZATION, name: `files-${made}`, libraryType: "other" } as const;
  const { id } = await makePackage(api, named);
  return { id, path: `/v2/packages/${ORGANIZATION}/${id}/import` };
}

/** Latin-1: one character of the source is one byte of the line. */
const bytesOf = (text: string) => Buffer.from(text, "latin1");
const BYTE_ORDER_MARK = "\xef\xbb\xbf";

/** What decoding does with odd values, its unit tests have in tables. */
const REFUSED = {
  "NUL between its values": `{${TIME},\0"a":1}`,
  "NUL in a string": `{${TIME},"a":"\0"}`,
  "bytes that are no UTF-8 between its values": `{${TIME},\xff"a":1}`,
  "a lone CR between two objects": `{${TIME}}\r{${TIME}}`,
  "a byte-order mark that is not at the start of the body": `${BYTE_ORDER_MARK}{${TIME}}`,
  "UTF-16": [...`{${TIME}}`].map((character) => `${character}\0`).join(""),
};

test("lines that are no text or no JSON object are refused and given back byte for byte", async () => {
  const { path } = await newPackage();
  const lines = Object.values(REFUSED);
  const body = bytesOf(`${BYTE_ORDER_MARK}${LINE}${lines.map((line) => `${line}\n${LINE}`).join("")}`);
  const done = await api.pollToDone(await api.importBody(path, body));
  expect(done).toMatchObject({ events_total: 2 * lines.length + 1, events_failed_to_import: lines.length });
  expect(done.error_log_sample).toMatchObject(
    lines.map((_, index) => ({ line: 2 * index + 2, class: "error", type: "failed-to-decode" })),
  );
  const of = `/v2/imports/${ORGANIZATION}/${done.id}`;
  const log = (await api.readLines(`${of}/log`)).map((line) => JSON.parse(line) as LogEntry);
  expect(log).toEqual(done.error_log_sample);
  const rejected = Buffer.from(await (await api.request(`${of}/rejected`)).arrayBuffer());
  expect(rejected.toString("latin1")).toBe(lines.map((line) => `${line}\n`).join(""));
});

test("text that is odd within a line is imported, with a replacement", async () => {
  const { id, path } = await newPackage();
  const odd = [
    ["no UTF-8", '"\xff"', "\ufffd"],
    ["half a surrogate pair, escaped", '"x\\ud800"', "x\ufffd"],
    ["half a surrogate pair, as bytes", '"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"],
    ["an escaped NUL", '"x\\u0000y"', "x y"],
    ["a number beyond 2^53", "9007199254740993", "9007199254740993"],
  ] as const;
  const lines = odd.map(([name, value]) => `{${TIME},"${name}":${value}}\r\n`);
  const done = await api.pollToDone(await api.importBody(path, bytesOf(lines.join(""))));
  expect(done).toMatchObject({ events_successfully_imported: odd.length, warning_log_sample: [] });
  const shown = (await api.readAggregates(ORGANIZATION, RANGE)).flatMap((line) =>
    line.package === id && line.variable !== undefined ? [[line.variable, line.value]] : [],
  );
  expect(new Map(shown as [string, string][])).toEqual(new Map(odd.map(([name, , value]) => [name, value])));
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
