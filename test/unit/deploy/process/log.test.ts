import { expect, test } from "vitest";
import { createLog, IMPORT_DONE, importDoneFields, shortLine } from "../../../../deploy/process/log.js";

function logged(write: (log: ReturnType<typeof createLog>) => void, { pretty = false } = {}): string {
  const lines: string[] = [];
  write(createLog({ level: "info", pretty, destination: { write: (line) => void lines.push(line) } }));
  return lines.join("");
}

test("a line is one JSON object with its level, time and message", () => {
  const line: unknown = JSON.parse(logged((log) => log.info({ port: 8080 }, "listening")));
  expect(line).toMatchObject({ level: 30, port: 8080, msg: "listening" });
  expect(Object.keys(line as object)).toEqual(["level", "time", "port", "msg"]);
});

test("lines below the level are not written", () => {
  expect(logged((log) => log.debug("detail"))).toBe("");
});

test("lines are readable when asked for", () => {
  expect(logged((log) => log.warn("mind the gap"), { pretty: true })).toMatch(/WARN.*mind the gap/);
});

test.each([
  ["itself", AbortSignal.abort().reason as Error],
  ["as a cause", new Error("failed", { cause: AbortSignal.abort().reason })],
  ["as one of several", new AggregateError([AbortSignal.abort().reason], "failed")],
  ["as a property", Object.assign(new Error("failed"), { reason: AbortSignal.abort().reason as Error })],
])("a DOMException, %s, is written without all the codes that there are", (_, err) => {
  const line = logged((log) => log.error({ err }, "failed"));
  expect(line).toContain("This operation was aborted");
  expect(line).not.toMatch(/[A-Z]_ERR/);
});

test("an error keeps its own properties, and what is no error stays as it is", () => {
  const err = Object.assign(new Error("failed"), {
    code: "ECONNRESET",
    ABORT: { stack: "x", INDEX_SIZE_ERR: 1 },
  });
  expect(JSON.parse(logged((log) => log.error({ err }, "failed")))).toMatchObject({
    err: { type: "Error", message: "failed", code: "ECONNRESET", ABORT: { stack: "x" } },
  });
  expect(JSON.parse(logged((log) => log.error({ err: "text" }, "failed")))).toMatchObject({ err: "text" });
  expect(JSON.parse(logged((log) => log.error({ err: null }, "failed")))).toMatchObject({ err: null });
});

const unparsed = Object.assign(new Error("Parse Error"), { rawPacket: Buffer.from("hidden") });

test.each([
  ["a header", { headers: { authorization: "Bearer hidden" } }],
  ["a request's header", { req: { headers: { authorization: "Bearer hidden", cookie: "hidden" } } }],
  ["a token", { token: "hidden" }],
  ["a password", { account: { password: "hidden" } }],
  ["a secret", { webhook: { secret: "hidden" } }],
  ["an API token inside a text", { note: "used mtk_hidden-by_prefix" }],
  ["a webhook secret inside a text", { note: "whsec_hidden+/=" }],
  ["the password of a URL", { url: "postgres://app:hidden@127.0.0.1:5432/app" }],
  ["the password of a URL in an error", { err: new Error("http://app:hidden@127.0.0.1:8123/ failed") }],
  ["the packet of a request that the HTTP parser refused", { err: unparsed }],
])("%s is not written", (_, fields) => {
  const line = logged((log) => log.error(fields, "failed with mtk_hidden"));
  expect(line).toContain("***");
  expect(line).not.toContain("hidden");
  expect(line).not.toContain(String([...Buffer.from("hidden")]));
});

test("the readable form hides them as well", () => {
  const line = logged((log) => log.info("http://app:hidden@127.0.0.1/ and mtk_hidden"), { pretty: true });
  expect(line).not.toContain("hidden");
});

test("a URL without a password stays as it is", () => {
  const url = "http://127.0.0.1:8080/v1/organizations?next=a@b";
  expect(logged((log) => log.info({ url }, "listening"))).toContain(url);
});

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
  expect(requested({ ...answered, complete: false })).toBe(`${clock} GET /v1/user 200 21 ms ada cut off\n`);
});

test("a path cannot colour the terminal", () => {
  expect(requested({ ...answered, path: "/\u001b[31mred" })).toContain(" /red ");
});

test("the end of an import has counts, seconds and events a second", () => {
  const ended = { id: "1", owner: "acme", eventsImported: 100_000, eventsFailed: 3, seconds: 12.404 };
  const fields = importDoneFields(ended);
  const counts = { events: 100_000, failed: 3, seconds: 12.4, eventsPerSecond: 8_062 };
  expect(fields).toEqual({ importId: "1", owner: "acme", ...counts });
  expect(shortLine(JSON.stringify({ level: 30, time, ...fields, msg: IMPORT_DONE }))).toBe(
    `${clock} import done: 100,000 events imported, 3 lines rejected, 12.4 s, 8,062 events/s (acme, 1)\n`,
  );
});

test("every other line is left to the general form", () => {
  expect(shortLine(JSON.stringify({ level: 40, time, msg: "mind the gap" }))).toBeUndefined();
  const other = { level: 40, time, note: { msg: "request" }, msg: "other" };
  expect(shortLine(JSON.stringify(other))).toBeUndefined();
});
