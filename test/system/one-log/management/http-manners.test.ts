import { once } from "node:events";
import { Agent, type IncomingMessage, get as httpGet } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { buffer } from "node:stream/consumers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createApiServer } from "../../../../deploy/roles/servers/create-api-server.js";
import { listen } from "../../../../deploy/roles/servers/listen.js";
import { openBareSocket } from "../../../support/imports/open-upload.js";
import { serveApi, type ServedApi } from "../../../support/api/management-api.js";
import { api, postgres, useApi } from "../../../support/api/use-world.js";

describe("answers", () => {
  const BODY_MS_MAX = 400;
  const DASHBOARD = "https://dashboard.example";

  let token: string;

  useApi(() => ({ corsOrigins: [DASHBOARD], bodyMsMax: BODY_MS_MAX, trustsProxy: () => true }));

  beforeAll(async () => {
    token = await api.account("ada");
    await api.call(token, "POST /v1/organizations", organization("small", "Things"));
    await api.call(token, "POST /v1/organizations", organization("large", "Things. ".repeat(500)));
  });

  function organization(name: string, description: string) {
    return { name, description, billingEmail: "pay@acme.example" };
  }

  type Headers = Record<string, string>;

  interface Plain {
    status: number;
    headers: IncomingMessage["headers"];
    /** As it was sent: nothing is decompressed. */
    bytes: Buffer;
  }

  /** Unlike fetch it asks for no compression by itself. */
  async function send(path: string, { method = "GET", ...headers }: Headers = {}): Promise<Plain> {
    const request = httpGet(api.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      agent: false,
    });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: await buffer(response) };
  }

  /** Everything that is answered to these bytes on one connection, until the server closes it. */
  async function raw(bytes: string): Promise<string> {
    const socket = await openBareSocket(api.url);
    await socket.send(bytes);
    return socket.closed;
  }

  const LARGE = "/v1/organizations/large";

  describe("compression", () => {
    const ENCODINGS = [
      ["gzip", gunzipSync],
      ["br", brotliDecompressSync],
    ] as const;

    test.each(ENCODINGS)("is %s for a large answer where that is asked for", async (encoding, decompress) => {
      const plain = await send(LARGE);
      const packed = await send(LARGE, { "accept-encoding": encoding });
      expect(packed.headers["content-encoding"]).toBe(encoding);
      expect(decompress(packed.bytes)).toEqual(plain.bytes);
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 4);
      expect(packed.headers.vary).toMatch(/Accept-Encoding/i);
    });

    test.each([
      ["a small answer", "/v1/organizations/small", "gzip, br"],
      ["an answer that nobody asked to be", LARGE, ""],
      ["an answer where no encoding fits", LARGE, "deflate, gzip;q=0"],
    ])("is left out for %s", async (_, path, encoding) => {
      const answer = await send(path, { "accept-encoding": encoding });
      expect(answer.headers["content-encoding"]).toBeUndefined();
      expect(answer.headers["content-length"]).toBe(String(answer.bytes.length));
      expect(answer.headers.vary).toMatch(/Accept-Encoding/i);
    });
  });

  describe("an ETag", () => {
    const tagOf = async (encoding: string) =>
      (await send(LARGE, { "accept-encoding": encoding })).headers.etag ?? "";

    test("is strong, and another one for other bytes of the same state", async () => {
      const tags = await Promise.all(["identity", "gzip", "br"].map(tagOf));
      expect(new Set(tags).size).toBe(3);
      expect(tags.every((tag) => /^"[^"]+"$/.test(tag))).toBe(true);
    });

    test.each(["identity", "gzip", "br"])("spares the caller what it has in %s", async (encoding) => {
      const tag = await tagOf(encoding);
      const again = await send(LARGE, { "accept-encoding": encoding, "if-none-match": `"other", ${tag}` });
      expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, tag]);
      expect(again.headers["content-encoding"]).toBeUndefined();
      expect(again.headers["x-request-id"]).toBeDefined();
    });

    test("belongs to one encoding and is not taken for another's", async () => {
      const answer = await send(LARGE, { "if-none-match": await tagOf("gzip") });
      expect(answer.status).toBe(200);
    });

    test.each(["identity", "gzip", "br"])("of %s lets an update pass once", async (encoding) => {
      const tag = await tagOf(encoding);
      const update = (description: string) =>
        fetch(api.url + LARGE, {
          method: "PUT",
          headers: { authorization: `Bearer ${token}`, "if-match": tag },
          body: JSON.stringify(organization("large", description)),
        });
      const updated = await update(`${encoding} things. `.repeat(400));
      expect(updated.status).toBe(200);
      const late = await update("Nothing");
      expect(late.status).toBe(412);
      expect(await late.json()).toMatchObject({ code: "precondition-failed" });
    });

    test.each(["/v1/packages", "/v2/pixels/ada", "/healthz", "/openapi.json", "/docs"])(
      "is on the answer of %s, and a 304 when asked for it again",
      async (path) => {
        const { headers } = await send(path);
        const again = await send(path, { "if-none-match": headers.etag ?? "" });
        expect([again.status, again.bytes.length]).toEqual([304, 0]);
      },
    );

    test("is on no error", async () => {
      const answer = await send("/v1/organizations/nobody", { "if-none-match": "*" });
      expect([answer.status, answer.headers.etag]).toEqual([404, undefined]);
    });
  });

  describe("HEAD", () => {
    const volatile = { date: "", "x-request-id": "", "transfer-encoding": "", ratelimit: "" };

    test.each([
      [LARGE, "identity"],
      [LARGE, "gzip"],
      [LARGE, "br"],
      ["/v1/organizations/small", "gzip"],
      ["/v1/organizations/nobody", "gzip"],
      ["/openapi.json", "gzip"],
      ["/docs", "identity"],
      ["/readyz", "identity"],
    ])("of %s in %s has the headers of GET, and no body", async (path, encoding) => {
      const asked = { "accept-encoding": encoding };
      const [got, head] = [await send(path, asked), await send(path, { method: "HEAD", ...asked })];
      expect(head.bytes.length).toBe(0);
      expect({ ...head.headers, ...volatile }).toEqual({ ...got.headers, ...volatile });
      expect(head.status).toBe(got.status);
    });
  });

  describe("a path of the service itself", () => {
    test.each(["/healthz", "/readyz", "/openapi.json", "/docs"])(
      "%s says which methods it has",
      async (path) => {
        const answer = await send(path, { method: "DELETE" });
        expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
      },
    );
  });

  describe("bytes that are no request", () => {
    const GET = "GET /healthz HTTP/1.1\r\nHost: x\r\n";
    const LAST = "Connection: close\r\n\r\n";

    test.each<[string, string, number?, string?]>([
      ["a malformed request line", "GET nothing\r\n\r\n"],
      ["a method that HTTP does not have", "FETCH / HTTP/1.1\r\nHost: x\r\n\r\n"],
      ["no Host", `GET /healthz HTTP/1.1\r\n${LAST}`],
      ["two Hosts", `${GET}host: y\r\n${LAST}`],
      [
        "another Transfer-Encoding",
        `POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n${LAST}0\r\n\r\n`,
      ],
      [
        "a second Host behind a thousand other headers",
        `${GET}${"a: b\r\n".repeat(1_500)}Host: y\r\n${LAST}`,
      ],
      ["a tunnel", "CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n"],
      ["too many headers", `${GET}X: ${"x".repeat(20_000)}\r\n\r\n`, 431, "headers-too-large"],
    ])("%s is answered as every error is", async (_, bytes, status = 400, code = "malformed-request") => {
      const [head = "", body = ""] = (await raw(bytes)).split("\r\n\r\n");
      expect(head).toContain(`HTTP/1.1 ${status} `);
      expect(head).toMatch(/^X-Request-Id: [0-9a-f-]{36}$/im);
      expect(head).toMatch(/^X-Content-Type-Options: nosniff$/im);
      expect(head).toMatch(/^Connection: close$/im);
      expect(JSON.parse(body)).toEqual({ code, message: expect.any(String) as string });
    });

    test("an expectation that nobody knows is passed over", async () => {
      expect(await raw(`${GET}Expect: wonders\r\n${LAST}`)).toMatch(/^HTTP\/1\.1 200 /);
    });
  });

  describe("a JSON body", () => {
    const head = () => `POST /v1/organizations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;

    test.each([
      ["stops halfway", "Content-Length: 1000\r\n\r\n{"],
      ["stops between chunks", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
    ])("that %s is given up, and its connection closed", async (_, rest) => {
      const answer = await raw(head() + rest);
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toMatch(/^Connection: close$/im);
      expect(answer).toContain('"code":"request-timeout"');
    });

    test("that comes a byte now and then has no more time than one that stands still", async () => {
      const socket = await openBareSocket(api.url);
      await socket.send(`${head()}Content-Length: 1000\r\n\r\n`);
      const trickle = setInterval(() => void socket.send(" ").catch(() => undefined), BODY_MS_MAX / 8);
      await expect.poll(() => socket.answered()).toMatch(/^HTTP\/1\.1 408 /);
      clearInterval(trickle);
      socket.breakOff();
    });
  });

  describe("a page of another origin", () => {
    const preflight = { method: "OPTIONS", "access-control-request-method": "PUT" };

    test("that is listed may ask and read, but never with credentials of the browser's", async () => {
      const asked = await fetch(`${api.url}${LARGE}`, { headers: { origin: DASHBOARD } });
      expect(asked.status).toBe(401);
      expect(asked.headers.get("access-control-allow-origin")).toBe(DASHBOARD);
      expect(asked.headers.get("access-control-expose-headers")?.split(",")).toEqual(
        expect.arrayContaining(["ETag", "Location", "X-Request-Id", "Link"]),
      );
      expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
      expect(asked.headers.get("vary")).toMatch(/Origin/);
    });

    test("needs no token for its preflight", async () => {
      const { status, headers } = await send(LARGE, { ...preflight, origin: DASHBOARD, authorization: "" });
      expect(status).toBe(204);
      expect(headers["access-control-allow-methods"]).toContain("PUT");
      expect(headers["access-control-allow-headers"]).toContain("Authorization");
      expect(headers["access-control-allow-headers"]).toContain("If-Match");
    });

    test.each(["https://other.example", "http://dashboard.example", "null"])(
      "that is %s may not",
      async (origin) => {
        const asked = await send(LARGE, { origin });
        const before = await send(LARGE, { ...preflight, origin });
        expect(asked.headers["access-control-allow-origin"]).toBeUndefined();
        expect(before.headers["access-control-allow-origin"]).toBeUndefined();
      },
    );

    test("is told nothing where no origins are configured, and may ask where all are", async () => {
      await using none = await serveApi({ pg: postgres.pg });
      await using all = await serveApi({ pg: postgres.pg, corsOrigins: ["*"] });
      const allowed = async ({ url }: ServedApi) =>
        (await fetch(`${url}/healthz`, { headers: { origin: DASHBOARD } })).headers.get(
          "access-control-allow-origin",
        );
      expect([await allowed(none), await allowed(all)]).toEqual([null, "*"]);
    });
  });

  test("only a host that is reached by https is to stay with it", async () => {
    const outside = await send("/healthz", { "x-forwarded-proto": "https" });
    const inside = await send("/healthz");
    expect(outside.headers["strict-transport-security"]).toBe("max-age=31536000");
    expect(inside.headers["strict-transport-security"]).toBeUndefined();
  });
});

describe("a server that drains", () => {
  const HELLO = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  async function start(answerAfterMs = 0) {
    const server = createApiServer(
      (_, response) => void setTimeout(() => response.end("hello"), answerAfterMs),
    );
    const cut = vi.spyOn(server, "closeAllConnections");
    return Object.assign(await listen(server, { host: "127.0.0.1", port: 0, variable: "PORT" }), { cut });
  }

  test("still answers on a kept connection, and says that it is the last time", async () => {
    const server = await start();
    const socket = await openBareSocket(server.url);
    await socket.send(HELLO);
    await expect.poll(() => socket.answered()).toMatch(/Connection: keep-alive[^]*hello/);
    const closing = server[Symbol.asyncDispose]();
    await socket.send(HELLO);
    expect((await socket.closed).match(/Connection: \S+/g)).toEqual([
      "Connection: keep-alive",
      "Connection: close",
    ]);
    await closing;
  });

  test("ends the connection of an answer that was in hand", async () => {
    const server = await start(150);
    const socket = await openBareSocket(server.url);
    await socket.send(HELLO);
    await new Promise((soon) => setTimeout(soon, 50));
    const closing = server[Symbol.asyncDispose]();
    expect(await socket.closed).toMatch(/Connection: close[^]*hello/);
    await closing;
  });

  test("does not wait for connections on which nothing is asked", async () => {
    const server = await start();
    const agent = new Agent({ keepAlive: true });
    const request = httpGet(server.url, { agent });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    const silent = await openBareSocket(server.url);
    await server[Symbol.asyncDispose]();
    await silent.closed;
    expect(server.cut).not.toHaveBeenCalled();
    agent.destroy();
  });
});
