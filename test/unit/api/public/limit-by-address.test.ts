import { expect, test } from "vitest";
import { limitByAddress, REQUESTS_MAX } from "../../../../api/public/badge-routes.js";
import type { ApiContext } from "../../../../api/http/route.js";

const PROXY = "10.0.0.1";

const request = (remoteAddress: string, forwardedFor = "") =>
  ({ req: { socket: { remoteAddress } }, get: () => forwardedFor }) as unknown as ApiContext;

async function refusedOf(contexts: readonly ApiContext[]): Promise<number> {
  const limit = limitByAddress((address) => address === PROXY);
  const settled = await Promise.allSettled(contexts.map((ctx) => limit(ctx)));
  const refused = settled.flatMap((each) => (each.status === "rejected" ? [each.reason as object] : []));
  for (const each of refused)
    expect(each).toMatchObject({ code: "rate-limited", retryAfterSeconds: expect.any(Number) as number });
  return refused.length;
}

const many = (make: (index: number) => ApiContext) =>
  Array.from({ length: REQUESTS_MAX + 7 }, (_, at) => make(at));

test("an address is refused after its requests of a minute", async () => {
  expect(await refusedOf(many(() => request("192.0.2.1")))).toBe(7);
});

test("a header does not help who is no trusted proxy", async () => {
  expect(await refusedOf(many((at) => request("192.0.2.1", `198.51.100.${at % 250}`)))).toBe(7);
});

test("behind a trusted proxy each caller has requests of its own", async () => {
  expect(await refusedOf(many((at) => request(PROXY, `198.51.100.${at % 250}`)))).toBe(0);
  expect(await refusedOf(many(() => request(PROXY, "198.51.100.1")))).toBe(7);
});
