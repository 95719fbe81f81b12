import { expect, test } from "vitest";
import { IMPORT_DONE, importDoneFields, shortLine } from "../../../../deploy/process/log.js";

const time = "2026-11-21T03:51:15.123Z";
const clock = new Date(time).toTimeString().slice(0, 8);
const requested = (fields: object) =>
  shortLine(JSON.stringify({ level: 30, time, ...fields, msg: "request" }));
const answered = { method: "GET", path: "/v1/user", status: 200, ms: 21, account: "ada", complete: true };

test("a request is one line", () => {
  expect(requested(answered)).toBe(`${clock} GET /v1/user 200 21 ms ada\n`);
  const { account: _, ...stranger } = { ...answered, ms: 12_345 };
  expect(requested(stranger)).toBe(`${clock} GET /v1/user 200 12,345 ms\n`);
});

test("a failure is coloured, and a broken answer says so", () => {
  expect(requested({ ...answered, status: 404 })).toContain("\u001b[33m404\u001b[39m");
  expect(requested({ ...answered, status: 503 })).toContain("\u001b[31m503\u001b[39m");
  expect(requested({ ...answered, complete: false })).toBe(`${clock} GET /v1/user 200 21 ms ada broke off\n`);
});

test("a path cannot colour the terminal", () => {
  expect(requested({ ...answered, path: "/\u001b[31mred" })).toContain(" /red ");
});

test("the end of an import has counts, seconds and events a second", () => {
  const fields = importDoneFields({
    id: "1",
    owner: "acme",
    eventsImported: 100_000,
    eventsFailed: 3,
    seconds: 12.404,
  });
  expect(fields).toEqual({
    importId: "1",
    owner: "acme",
    events: 100_000,
    failed: 3,
    seconds: 12.4,
    eventsPerSecond: 8_062,
  });
  expect(shortLine(JSON.stringify({ level: 30, time, ...fields, msg: IMPORT_DONE }))).toBe(
    `${clock} import done: 100,000 events imported, 3 lines refused, 12.4 s, 8,062 events/s (acme, 1)\n`,
  );
});

test("every other line is left to the general form", () => {
  expect(shortLine(JSON.stringify({ level: 40, time, msg: "mind the gap" }))).toBeUndefined();
  expect(
    shortLine(JSON.stringify({ level: 40, time, note: { msg: "request" }, msg: "other" })),
  ).toBeUndefined();
});
