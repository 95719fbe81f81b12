import { beforeAll, describe, expect, test } from "vitest";
import { type Route, route } from "../../../../api/base/http/route.js";
import { visit } from "../../../support/dashboard/visitor.js";
import { type Answer, type ServedApi, serveApi } from "../../../support/api/management-api.js";
import { postgres, usePostgres } from "../../../support/api/use-world.js";

const PER_SECOND = 1;
/** In ten seconds. */
const QUOTA = { account: 10 * PER_SECOND, address: 40 * PER_SECOND };

/** Requests at work, by their account, and what ends each. */
const working = new Map<string, (() => void)[]>();
const workOf = (username: string) => working.get(username) ?? [];

const WORK: Route = route({
  method: "POST",
  path: "/v1/work",
  action: "assistants.ask",
  operation: {
    id: "work",
    summary: "Work until told to end",
    answers: { 204: { description: "It ended" } },
  },
  async handle({ ctx, account: { username } }) {
    await new Promise<void>((end) => working.set(username, [...workOf(username), end]));
    ctx.status = 204;
  },
});

usePostgres();

/** A service of its own, whose callers have sent nothing yet. */
const serve = (requestsPerSecond = PER_SECOND) =>
  serveApi({ pg: postgres.pg, routes: [WORK], requestsPerSecond });

const rateOf = ({ headers }: Pick<Answer, "headers">) => ({
  policy: headers.get("ratelimit-policy"),
  limit: headers.get("ratelimit"),
});

/** Sends it this often; the last response, and how many were served. */
async function sendMany(times: number, send: () => Promise<Pick<Response, "status" | "headers">>) {
  const answers = await Promise.all(Array.from({ length: times }, send));
  const refused = answers.find(({ status }) => status === 429);
  return { served: answers.filter(({ status }) => status !== 429).length, refused };
}

const get = (api: ServedApi, path: string, headers: Record<string, string> = {}) =>
  fetch(api.url + path, { headers });

let tokens: Record<"ada" | "bob" | "cyd", string>;
beforeAll(async () => {
  await using api = await serve();
  const [ada = "", bob = "", cyd = ""] = await Promise.all(["ada", "bob", "cyd"].map(api.account));
  tokens = { ada, bob, cyd };
});

describe("the requests of an account", () => {
  test("are counted over all its tokens, and each response has what is left", async () => {
    await using api = await serve();
    const other = await api.limitedToken(tokens.ada, { scopes: ["read"] });
    const first = await api.call(other, "GET /v1/user");
    expect(rateOf(first)).toEqual({
      policy: `"address";q=${QUOTA.address};w=10, "account";q=${QUOTA.account};w=10`,
      limit: expect.stringMatching(
        new RegExp(`^"address";r=${QUOTA.address - 3};t=\\d+, "account";r=${QUOTA.account - 2};t=\\d+$`),
      ) as string,
    });
    const { served } = await sendMany(QUOTA.account, () => api.call(tokens.ada, "GET /v1/user"));
    expect(served).toBe(QUOTA.account - 2);
  });

  test("above the quota are told when to come again, and those of others are served", async () => {
    await using api = await serve();
    const { refused } = await sendMany(QUOTA.account + 1, () => api.call(tokens.ada, "GET /v1/user"));
    const { body, headers } = refused as Answer;
    const seconds = headers.get("retry-after");
    expect(body).toEqual({
      code: "rate-limited",
      message: `Your account sent more than ${QUOTA.account} requests in 10 s. Try again in ${seconds} s.`,
    });
    expect(headers.get("ratelimit")).toContain(`"account";r=0;t=${seconds}`);
    expect((await api.call(tokens.bob, "GET /v1/user")).status).toBe(200);
  });

  test("are one for a page, whatever it asks for in this process", async () => {
    await using api = await serve();
    const ada = await visit(api.url, { username: "ada", token: tokens.ada });
    const left = async () => {
      const answer = await ada.request("/account");
      await answer.text();
      return Number(/"account";r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
    };
    expect((await left()) - (await left())).toBe(1);
    const { refused } = await sendMany(QUOTA.account, () => ada.request("/account"));
    expect(refused?.headers.get("content-type")).toMatch(/^text\/html/);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("are also those of its session below the dashboard, each once", async () => {
    await using api = await serve();
    const ada = await visit(api.url, { username: "ada", token: tokens.ada });
    const { served } = await sendMany(QUOTA.account + 5, () => ada.request("/api/v1/user"));
    expect(served).toBe(QUOTA.account);
  });
});

describe("the requests of an address", () => {
  test("are refused above the quota, before anything is looked up for them", async () => {
    await using api = await serve();
    const { served, refused } = await sendMany(QUOTA.address + 5, () => get(api, "/docs"));
    // The service was asked for its document before.
    expect(served).toBe(QUOTA.address - 1);
    expect(refused?.headers.get("ratelimit")).toMatch(/^"address";r=0;t=\d+$/);
    expect((await api.call(tokens.bob, "GET /v1/user")).status).toBe(429);
  });

  test("are no health checks", async () => {
    await using api = await serve();
    await sendMany(QUOTA.address, () => get(api, "/docs"));
    for (const path of ["/healthz", "/readyz"]) {
      const { served, refused } = await sendMany(10, () => get(api, path));
      expect({ served, refused }).toEqual({ served: 10, refused: undefined });
    }
  });
});

describe("of an account, at once", () => {
  const begin = (api: ServedApi, token: string) => api.call(token, "POST /v1/work");
  const endAll = async (username: string, sent: readonly Promise<Answer>[]) => {
    let ended = 0;
    while (ended < sent.length) {
      await expect.poll(() => workOf(username).length).toBeGreaterThan(ended);
      workOf(username)[ended++]?.();
    }
    return (await Promise.all(sent)).map(({ status }) => status);
  };

  test("four requests are at work and more wait, while others are served", async () => {
    working.clear();
    await using api = await serve(1_000);
    const sent = Array.from({ length: 6 }, () => begin(api, tokens.ada));
    await expect.poll(() => workOf("ada").length).toBe(4);
    const other = begin(api, tokens.bob);
    await expect.poll(() => workOf("bob").length).toBe(1);
    expect(workOf("ada")).toHaveLength(4);
    expect(await endAll("ada", sent)).toEqual([204, 204, 204, 204, 204, 204]);
    expect(await endAll("bob", [other])).toEqual([204]);
  });

  test("a request that waits leaves with its caller", async () => {
    working.clear();
    await using api = await serve(1_000);
    const sent = Array.from({ length: 4 }, () => begin(api, tokens.cyd));
    await expect.poll(() => workOf("cyd").length).toBe(4);
    const leave = new AbortController();
    const leaving = fetch(`${api.url}/v1/work`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens.cyd}` },
      signal: leave.signal,
    });
    const left = expect(leaving).rejects.toThrow();
    const last = begin(api, tokens.cyd);
    leave.abort();
    await left;
    expect(await endAll("cyd", [...sent, last])).toEqual([204, 204, 204, 204, 204]);
    expect(workOf("cyd")).toHaveLength(5);
  });
});
