import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { limitAtOnce } from "../../../../../../api/base/http/middleware/limit-at-once.js";
import type { ApiContext, ApiState } from "../../../../../../api/base/http/route.js";
import { actAs } from "../../../../../../api/base/identity/client-address.js";

const ACCOUNT = { id: "ada", username: "ada", tokenHash: Buffer.of() };
const NEVER = new AbortController().signal;

/** What takes a place for each further request, whose caller leaves with the signal. */
function open() {
  const limit = limitAtOnce();
  return async (accountId: string, { left = NEVER, isOwn = false } = {}) => {
    const req = new IncomingMessage(new Socket());
    if (isOwn) actAs(req, { account: ACCOUNT });
    const state: Partial<ApiState> = { left };
    await limit({ req, state } as unknown as ApiContext, () => Promise.resolve());
    return state.takePlace?.(accountId);
  };
}

const settled = async (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => "taken"), new Promise((resolve) => setImmediate(resolve, "waits"))]);

test("four requests of an account are at work, more wait, and others are not kept waiting", async () => {
  const take = open();
  const places = await Promise.all(["ada", "ada", "ada", "ada"].map((id) => take(id)));
  const fifth = take("ada");
  expect(await settled(fifth)).toBe("waits");
  expect(await settled(take("bob"))).toBe("taken");
  places[0]?.[Symbol.dispose]();
  expect(await settled(fifth)).toBe("taken");
});

test("the calls of a page in this process have places of their own, since the page waits for them", async () => {
  const take = open();
  await Promise.all(["ada", "ada", "ada", "ada"].map((id) => take(id)));
  const calls = Array.from({ length: 5 }, () => take("ada", { isOwn: true }));
  expect(await Promise.all(calls.map(settled))).toEqual(["taken", "taken", "taken", "taken", "waits"]);
});

test("a request that waits leaves with its caller, and keeps nobody waiting", async () => {
  const take = open();
  const places = await Promise.all(["ada", "ada", "ada", "ada"].map((id) => take(id)));
  const left = new AbortController();
  const leaving = take("ada", { left: left.signal });
  const next = take("ada");
  left.abort(new Error("the caller left"));
  await expect(leaving).rejects.toThrow("the caller left");
  places[0]?.[Symbol.dispose]();
  expect(await settled(next)).toBe("taken");
});

test("a request beyond those that may wait is told to come again", async () => {
  const take = open();
  const asked = Array.from({ length: 254 }, () => take("ada"));
  await expect(take("ada")).rejects.toMatchObject({
    code: "rate-limited",
    message: "Too many concurrent requests from your account. Send fewer at once.",
    retryAfterSeconds: 5,
  });
  expect(await settled(asked[3] as Promise<unknown>)).toBe("taken");
});
