import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Middleware } from "koa";
import { describe, expect, test } from "vitest";
import { limitRequests } from "../../../../../../api/base/http/middleware/limit-requests.js";
import type { ApiContext, ApiState } from "../../../../../../api/base/http/route.js";
import { actAs } from "../../../../../../api/base/identity/client-address.js";

const ADA = { id: "ada", username: "ada", tokenHash: Buffer.of() };
const BOB = { id: "bob", username: "bob", tokenHash: Buffer.of() };

interface Sent {
  path?: string;
  /** As a proxy forwards it. */
  address?: string;
  state?: object;
  isOwn?: boolean;
}

function contextOf({ path = "/v1/user", address = "203.0.113.1", state = {}, isOwn = false }: Sent) {
  const req = new IncomingMessage(new Socket());
  Object.defineProperty(req.socket, "remoteAddress", { value: "10.0.0.1" });
  req.headers["x-forwarded-for"] = address;
  if (isOwn) actAs(req, { account: ADA });
  const fields: Record<string, string> = {};
  const set = (name: string, value: string) => void (fields[name] = value);
  const response = { get: (name: string) => fields[name] ?? "" };
  return { ctx: { req, path, state, set, response } as unknown as ApiContext, fields };
}

/** 20 requests of an account in ten seconds, 80 of an address. */
const open = () => limitRequests({ perSecond: 2, trustsProxy: (address) => address === "10.0.0.1" });

/** Passes the request through these, as an app does; its fields, and how it ended. */
async function pass(through: readonly Middleware<ApiState>[], sent: Sent = {}) {
  const { ctx, fields } = contextOf(sent);
  try {
    for (const each of through) await each(ctx, () => Promise.resolve());
    return { fields, outcome: "served" };
  } catch (error) {
    return { fields, outcome: (error as { code: string }).code, error };
  }
}

async function passMany(times: number, through: readonly Middleware<ApiState>[], sent: Sent = {}) {
  const outcomes: string[] = [];
  for (let time = 0; time < times; time += 1) outcomes.push((await pass(through, sent)).outcome);
  return {
    served: outcomes.filter((each) => each === "served").length,
    refused: outcomes.filter((each) => each === "rate-limited").length,
  };
}

describe("requests of an account", () => {
  test("are limited whatever their address, and those of others go on", async () => {
    const { ofAddress, ofAccount } = open();
    const through = [ofAddress, ofAccount];
    const state = { account: ADA };
    expect(await passMany(15, through, { state })).toEqual({ served: 15, refused: 0 });
    expect(await passMany(15, through, { state, address: "203.0.113.2" })).toEqual({
      served: 5,
      refused: 10,
    });
    expect(await passMany(5, through, { state: { account: BOB } })).toEqual({ served: 5, refused: 0 });
  });

  test("are counted once, for its session and for its token", async () => {
    const { ofAddress, ofAccount } = open();
    const through = [ofAddress, ofAccount, ofAccount];
    expect(await passMany(15, through, { state: { session: { account: ADA } } })).toMatchObject({
      served: 15,
    });
    expect(await passMany(15, through, { state: { account: ADA } })).toMatchObject({ served: 5 });
  });

  test("are told the quotas, what is left, and when to come again", async () => {
    const { ofAddress, ofAccount } = open();
    const state = { account: ADA };
    const policy = '"address";q=80;w=10, "account";q=20;w=10';
    expect((await pass([ofAddress, ofAccount], { state })).fields).toEqual({
      "RateLimit-Policy": policy,
      RateLimit: '"address";r=79;t=10, "account";r=19;t=10',
    });
    await passMany(19, [ofAddress, ofAccount], { state });
    const { fields, error } = await pass([ofAddress, ofAccount], { state });
    expect(fields).toEqual({
      "RateLimit-Policy": policy,
      RateLimit: expect.stringMatching(/^"address";r=59;t=\d+, "account";r=0;t=\d+$/) as string,
    });
    expect(error).toMatchObject({
      code: "rate-limited",
      message: expect.stringMatching(
        /^Your account sent more than 20 requests in 10 s\. Try again in \d+ s\.$/,
      ) as string,
      retryAfterSeconds: expect.any(Number) as number,
    });
  });
});

describe("requests of an address", () => {
  test.each([
    ["203.0.113.1", "203.0.113.1", "203.0.113.2"],
    ["2001:db8:1:2::a", "2001:db8:1:2:ffff::b", "2001:db8:1:3::a"],
  ])("are limited before their account is known: %s and %s, not %s", async (address, same, other) => {
    const { ofAddress } = open();
    expect(await passMany(90, [ofAddress], { address })).toEqual({ served: 80, refused: 10 });
    expect(await passMany(1, [ofAddress], { address: same })).toEqual({ served: 0, refused: 1 });
    expect(await passMany(1, [ofAddress], { address: other })).toEqual({ served: 1, refused: 0 });
  });

  test.each([{ path: "/healthz" }, { path: "/readyz" }, { isOwn: true }])(
    "are not counted, and told nothing, of %j",
    async (free) => {
      const { ofAddress, ofAccount } = open();
      const sent = { ...free, state: { account: ADA } };
      expect(await passMany(100, [ofAddress, ofAccount], sent)).toEqual({ served: 100, refused: 0 });
      expect((await pass([ofAddress, ofAccount], sent)).fields).toEqual({});
    },
  );
});
