import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  annotationSecretRoutes,
  githubReleaseRoutes,
} from "../../../../api/features/packages/annotations/github-routes.js";
import { REFUSALS_MAX } from "../../../../api/base/http/middleware/limit-strangers.js";
import { createSealer } from "../../../../api/base/identity/tokens.js";
import { SECRET_KEY } from "../../../support/api/management-api.js";
import { api, useApi } from "../../../support/api/use-world.js";
import { openBareSocket } from "../../../support/imports/open-upload.js";

const sealer = createSealer(SECRET_KEY, "annotation-secret");
/** Statements about owners and their secrets, by anybody who sends an event. */
const looked: unknown[] = [];

useApi(({ pg }) => {
  const watched = Object.create(pg, {
    query: { value: (...asked: Parameters<typeof pg.query>) => (looked.push(asked), pg.query(...asked)) },
  }) as typeof pg;
  return {
    trustsProxy: () => true,
    routes: annotationSecretRoutes({ pg, sealer }),
    publicRoutes: githubReleaseRoutes({ pg: watched, sealer }),
  };
});

let secret: string;

beforeAll(async () => {
  const token = await api.account("ada");
  await api.account("bob");
  const made = await api.call(token, "POST /v2/ada/annotation-secret");
  ({ secret } = made.body as { secret: string });
});

interface Sent {
  from: string;
  body?: string;
  headers?: Record<string, string>;
}

const FORM = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };

async function post(path: string, { from, body = "", headers = FORM }: Sent) {
  const answer = await fetch(api.url + path, {
    method: "POST",
    headers: { "x-forwarded-for": from, ...headers },
    body,
    redirect: "manual",
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** What is answered to headers that announce a body, of which nothing comes. */
async function answerToHeaders(path: string, length: number): Promise<string> {
  const socket = await openBareSocket(api.url);
  const headers = [
    ...Object.entries(FORM),
    ["host", "x"],
    ["content-length", length],
    ["connection", "close"],
  ];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await socket.send(`POST ${path} HTTP/1.1\r\n${lines}\r\n`);
  await expect.poll(() => socket.answered()).toMatch(/<\/html>|\}$/);
  return socket.answered();
}

describe("a form of nobody", () => {
  test.each(["/dashboard/account", "/dashboard/o/acme/settings", "/dashboard/o/acme/imports/new"])(
    "is answered without a look at it, and tells a browser how to send it again: %s",
    async (path) => {
      const answer = await answerToHeaders(path, 1_000_000);
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).toContain("reload");
    },
  );

  test.each(["/dashboard/sign-in", "/dashboard/sign-in/link", "/dashboard/sign-out"])(
    "is not read where it is larger than any of %s",
    async (path) => {
      expect(await answerToHeaders(path, 32 * 1024 + 1)).toMatch(/^HTTP\/1\.1 413 /);
    },
  );

  test("is not taken apart where it has more fields than any", async () => {
    const { status, text } = await post("/dashboard/sign-in", {
      from: "192.0.2.1",
      body: "a&".repeat(10_000),
    });
    expect(status).toBe(422);
    expect(text.length).toBeLessThan(4_000);
  });

  test("has no files", async () => {
    const headers = { ...FORM, "content-type": "multipart/form-data; boundary=x" };
    const body = "--x\r\ncontent-disposition: form-data; name=a\r\n\r\n1\r\n--x--";
    expect((await post("/dashboard/sign-in", { from: "192.0.2.1", headers, body })).status).toBe(415);
  });
});

describe("of one network", () => {
  const GITHUB = "/v2/ada/annotations/github";
  const signed = (body: string, key: string) => ({
    "x-hub-signature-256": `sha256=${createHmac("sha256", key).update(body).digest("hex")}`,
  });
  const body = JSON.stringify({ zen: "Keep it logically awesome." });
  const statuses = async (count: number, send: (at: number) => Promise<{ status: number }>) => {
    const seen = new Map<number, number>();
    for (let at = 0; at < count; at += 1) {
      const { status } = await send(at);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
    return Object.fromEntries(seen);
  };

  test.each([
    ["links that sign nobody in", "198.51.1", "203.0.113.1", "/dashboard/sign-in/link", 401],
    ["forms of nobody", "198.51.2", "203.0.113.1", "/dashboard/account", 401],
    ["events that nobody signed", "198.51.3", "203.0.113.1", GITHUB, 401],
    ["posts to nothing", "198.51.4", "203.0.113.1", "/nothing", 404],
  ])("%s are refused after %s", async (_, network, elsewhere, path, refused) => {
    const send = (at: number) => post(path, { from: `${network}.${at % 250}` });
    // A guess is counted by its address as well, which is refused sooner.
    expect(await statuses(REFUSALS_MAX, send)).toEqual({ [refused]: REFUSALS_MAX });
    const { status, headers } = await send(251);
    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await post(path, { from: elsewhere })).status).toBe(refused);
    const { status: signedIn } = await fetch(`${api.url}/dashboard/sign-in`, {
      headers: { "x-forwarded-for": `${network}.1` },
    });
    expect(signedIn).toBe(200);
  });

  test("a /48 of IPv6 is one network", async () => {
    const send = (at: number) => post("/dashboard/account", { from: `2001:db8:7:${at.toString(16)}::1` });
    await statuses(REFUSALS_MAX, send);
    expect((await send(0xabc)).status).toBe(429);
    expect((await post("/dashboard/account", { from: "2001:db8:8::1" })).status).toBe(401);
  });

  test("what is accepted does not count", async () => {
    const send = () => post(GITHUB, { from: "198.51.5.1", headers: signed(body, secret), body });
    expect(await statuses(REFUSALS_MAX + 1, send)).toEqual({ 204: REFUSALS_MAX + 1 });
  });

  test("whether there is an owner who takes events is in neither the answer nor the work", async () => {
    const outcomes = [];
    for (const owner of ["ada", "bob", "nobody", "a%00b", "x".repeat(200)]) {
      looked.length = 0;
      const path = `/v2/${owner}/annotations/github`;
      const { status, text } = await post(path, { from: "198.51.6.1", headers: signed(body, "guess"), body });
      outcomes.push({ status, text, statements: looked.length });
    }
    const refusal = { ...outcomes[0], status: 401, statements: 1 };
    expect(outcomes).toEqual(outcomes.map(() => refusal));
  });
});

test("a query with more parameters than any URL needs is refused, whoever asks", async () => {
  const ask = (path: string, count: number) => fetch(`${api.url}${path}?${Array(count).fill("a").join("&")}`);
  for (const path of ["/dashboard/sign-in", "/v1/user", "/healthz"]) {
    const answer = await ask(path, 1_001);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      code: "malformed-request",
      message: "A request can have at most 1000 query parameters.",
    });
  }
  expect((await ask("/dashboard/sign-in", 1_000)).status).toBe(200);
});
