import { connect } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { rotateToken } from "../../../../api/base/identity/accounts.js";
import { route } from "../../../../api/base/http/route.js";
import { serveApi } from "../../../support/api/management-api.js";
import { api, postgres, useApi } from "../../../support/api/use-world.js";

const TEXT = {
  description: "Lines",
  schema: {},
  example: "",
  types: ["text/plain", "application/octet-stream"],
};

const BREAKS_OFF = route({
  method: "GET",
  path: "/v1/breaks-off",
  action: "packages.list-own",
  operation: { id: "breaksOff", tag: "Service", summary: "Only here", answers: { 200: TEXT } },
  handle: async ({ ctx }) => {
    ctx.body = Readable.from(breakingOff());
  },
});

const FAILS_LATE = route({
  method: "GET",
  path: "/v1/fails-late",
  action: "packages.list-own",
  operation: { id: "failsLate", tag: "Service", summary: "Only here", answers: { 200: TEXT } },
  handle: async ({ ctx }) => {
    ctx.status = 200;
    ctx.type = "text/plain";
    ctx.res.write("first line\n");
    await new Promise((soon) => setTimeout(soon, 20));
    throw new Error("too late for a status");
  },
});

const FAILS = route({
  method: "GET",
  path: "/v1/fails",
  action: "packages.list-own",
  operation: { id: "fails", tag: "Service", summary: "Only here", answers: { 200: TEXT } },
  handle: () => Promise.reject(new Error("the secret reason")),
});

async function* breakingOff() {
  yield "first line\n";
  await new Promise((soon) => setTimeout(soon, 20));
  throw new Error("the store broke off");
}

let token: string;

useApi(() => ({ routes: [BREAKS_OFF, FAILS_LATE, FAILS] }));

beforeAll(async () => void (token = await api.account("alice")));

const organization = (name: string) => ({ name, description: "", billingEmail: "pay@acme.example" });

function send(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(api.url + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
}

describe("authentication", () => {
  test.each([
    ["no header", {}],
    ["an unknown token", { authorization: `Bearer mtk_${"a".repeat(43)}` }],
    ["what is no token", { authorization: "Bearer 7" }],
    ["another scheme", { authorization: "Basic YTpi" }],
  ])("refuses %s with one and the same answer, for known and unknown paths", async (_, headers) => {
    for (const path of ["/v1/packages", "/v2/pixels/alice", "/v1/nothing", "/v2", "/v1/organizations"]) {
      const answer = await fetch(api.url + path, { headers: headers as Record<string, string> });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(await answer.json()).toEqual({
        code: "unauthenticated",
        message: "Send a valid token: Authorization: Bearer <token>.",
      });
    }
  });

  test("takes the scheme in any case, and only the newest token", async () => {
    const old = await api.account("rosa");
    const authorization = `bEARER ${old}`;
    expect((await fetch(`${api.url}/v1/packages`, { headers: { authorization } })).status).toBe(200);
    const { token: fresh } = await rotateToken({ pg: postgres.pg, tokens: api.tokens }, "ROSA");
    expect((await api.call(old, "GET /v1/packages")).status).toBe(401);
    expect((await api.call(fresh, "GET /v1/packages")).status).toBe(200);
  });

  test("keeps no token in the database that could be used", async () => {
    const { rows } = await postgres.pg.query(
      "select a::text || encode(token_ciphertext, 'escape') as row from accounts a",
    );
    expect(JSON.stringify(rows)).not.toContain(token.slice(4));
  });
});

describe("every answer", () => {
  test.each(["/healthz", "/v1/packages", "/v1/nothing", "/v1/fails", "/nothing"])(
    "to %s has an id of the service's own, whatever the caller sends",
    async (path) => {
      const named = await send(path, { headers: { "x-request-id": "my-request.1" } });
      expect(named.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(named.headers.get("x-content-type-options")).toBe("nosniff");
      expect(named.headers.get("cache-control")).toBe("no-store");
    },
  );

  test("to HEAD is that to GET without its body", async () => {
    const get = await send("/v1/packages");
    const head = await send("/v1/packages", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
    expect(await head.text()).toBe("");
  });

  test("about a wrong method says which are right", async () => {
    const answer = await send("/v1/packages", { method: "DELETE" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
    expect(await answer.json()).toMatchObject({ code: "method-not-allowed" });
    const options = await send("/v1/packages", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS, POST"]);
  });

  test.each([
    "/v1/nothing",
    "/nothing",
    "/V1/packages",
    "/v1/organizations/%zz",
    "/v1/organizations/%00",
    "/v1/packages/%00",
    "/v1/packages/%ff",
    "/v1/packages/a%2F..%2F%2F",
    "/v2/pixels/alice/not-a-uuid",
    "/v2/pixels/%00/not-a-uuid",
  ])("about %s is a 404 with a code", async (path) => {
    const answer = await send(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "not-found", message: expect.any(String) as string });
  });

  test("about a fault says nothing of the reason", async () => {
    const answer = await send("/v1/fails");
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ code: "internal-error" });
    expect(text).not.toContain("secret reason");
  });

  test.each(["/v1/breaks-off", "/v1/fails-late"])(
    "that breaks off, as %s does, breaks the connection",
    async (path) => {
      const answer = await send(path);
      expect(answer.status).toBe(200);
      await expect(answer.text()).rejects.toThrow();
      expect((await send("/healthz")).status).toBe(200);
    },
  );
});

describe("a JSON body", () => {
  const post = (body: RequestInit["body"] | Buffer, headers: Record<string, string> = {}) =>
    send("/v1/organizations", { method: "POST", body, headers, duplex: "half" } as RequestInit);

  test.each(["application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-8", ""])(
    "is read as JSON when its type says %j",
    async (type) => {
      const name = `typed-${type.length}`;
      const answer = await post(JSON.stringify(organization(name)), { "content-type": type });
      expect(answer.status).toBe(201);
    },
  );

  test.each([
    ["nothing", ""],
    ["half an object", '{"name":'],
    ["a form", "name=acme"],
    ["no UTF-8", Buffer.from('{"name":"\xff"}', "latin1")],
  ])("that is %s is malformed", async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "malformed-json" });
  });

  test("with what PostgreSQL cannot keep is refused, not a fault", async () => {
    const answer = await post('{"name":"acme","description":"a\\u0000\\ud800","billingEmail":"a@b.example"}');
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: "invalid-body", errors: [{ path: "/description" }] });
  });

  test("that is nested too deep to look through is refused, not a fault", async () => {
    const answer = await post("[".repeat(20_000) + "]".repeat(20_000));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: "invalid-body" });
  });

  test("with more values than any record has is refused without a look at each", async () => {
    const fields = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`field${at}`, 0]));
    const answer = await post(JSON.stringify(fields));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      code: "invalid-body",
      message: "The body has more than 200 values.",
    });
  });

  test("may have what its operation needs, announced or not", async () => {
    const large = JSON.stringify({ ...organization("large"), description: "x".repeat(80 * 1024) });
    const chunked = () => Readable.toWeb(Readable.from([Buffer.from(large)])) as RequestInit["body"];
    for (const answer of [await post(large), await post(chunked())]) {
      expect(answer.status).toBe(413);
      expect(await answer.json()).toEqual({
        code: "too-large",
        message: "The body must not be larger than 80 KiB.",
      });
    }
    expect((await send("/v1/packages")).status).toBe(200);
  });

  test("is not decompressed", async () => {
    const answer = await post(gzipSync(JSON.stringify(organization("zipped"))), {
      "content-encoding": "gzip",
    });
    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({ code: "unsupported-encoding" });
  });

  test("that breaks off changes nothing and harms nobody", async () => {
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    const head = `POST /v1/organizations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
    socket.write(`${head}Content-Length: 1000\r\n\r\n{"name":`);
    await new Promise((soon) => setTimeout(soon, 50));
    socket.destroy();
    expect((await send("/v1/packages")).status).toBe(200);
  });
});

describe("a database that is down", () => {
  test("makes requests unavailable for now, and readiness fail, but not life", async () => {
    const pool = new pg.Pool({
      connectionString: "postgres://u@127.0.0.1:1/none",
      connectionTimeoutMillis: 500,
    });
    await using without = await serveApi({ pg: pool });
    const answer = await without.call(token, "GET /v1/packages");
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(answer.headers.get("retry-after")).toBe("5");
    const ready = await without.call(token, "GET /readyz");
    expect(ready).toMatchObject({ status: 503, body: { stores: { postgres: "down" } } });
    expect(await without.call(token, "GET /healthz")).toMatchObject({ status: 200, body: { status: "ok" } });
    await pool.end();
  });

  test("is forgotten when it is back", async () => {
    const killed = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()";
    await postgres.pg.query(`${killed} and datname = current_database()`);
    await new Promise((soon) => setTimeout(soon, 50));
    expect((await send("/v1/packages")).status).toBe(200);
    expect((await send("/readyz")).status).toBe(200);
  });
});
