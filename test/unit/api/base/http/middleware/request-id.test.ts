import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Logger } from "pino";
import { expect, test } from "vitest";
import { requestId } from "../../../../../../api/base/http/middleware/access-log.js";
import type { ApiContext } from "../../../../../../api/base/http/route.js";
import { actAs } from "../../../../../../api/base/identity/client-address.js";

/** Answers the request's id and what every line of its log has. */
async function named(given: string, prepare: (request: IncomingMessage) => void = () => undefined) {
  const req = new IncomingMessage(new Socket());
  prepare(req);
  let lines: object = {};
  const log = { child: (bindings: object) => ((lines = bindings), log) } as unknown as Logger;
  const state: Partial<ApiContext["state"]> = {};
  const ctx = { req, state, get: () => given, set: () => undefined } as unknown as ApiContext;
  await requestId(log)(ctx, () => Promise.resolve());
  return { id: state.requestId, lines };
}

test("the caller's id of a request is in the log beside the service's own, under another name", async () => {
  const { id, lines } = await named("theirs.1");
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(lines).toEqual({ requestId: id, callersRequestId: "theirs.1" });
});

test("a caller's id that is not well-formed is nowhere", async () => {
  for (const given of ["", "two words", "x".repeat(129)]) {
    const { id, lines } = await named(given);
    expect(lines).toEqual({ requestId: id });
  }
});

test("a page's calls within the process go on under the id of the page", async () => {
  const account = { id: "1", username: "ada", tokenHash: Buffer.of() };
  const { id, lines } = await named("page", (request) => actAs(request, { account }));
  expect(lines).toEqual({ requestId: id });
  expect(id).toBe("page");
});
