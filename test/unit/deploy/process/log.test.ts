import { expect, test } from "vitest";
import { createLog } from "../../../../deploy/process/log.js";

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
  ["a header", { headers: { authorization: "Bearer hidden" } }],
  ["a request's header", { req: { headers: { authorization: "Bearer hidden", cookie: "hidden" } } }],
  ["a token", { token: "hidden" }],
  ["a password", { account: { password: "hidden" } }],
  ["a secret", { webhook: { secret: "hidden" } }],
  ["an API token inside a text", { note: "used mtk_hidden-by_prefix" }],
  ["a webhook secret inside a text", { note: "whsec_hidden+/=" }],
  ["the password of a URL", { url: "postgres://app:hidden@127.0.0.1:5432/app" }],
  [
    "the password of a URL in an error",
    { err: new Error("connect to http://app:hidden@127.0.0.1:8123/ failed") },
  ],
  [
    "the packet of a request that the HTTP parser refused",
    { err: Object.assign(new Error("Parse Error"), { rawPacket: Buffer.from("hidden") }) },
  ],
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
