import { spawnSync } from "node:child_process";
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request } from "node:https";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startServer, type StartedServer } from "../../../support/collect/start-server.js";
import { startCaddy, startNginx, type TlsProxy } from "../../../support/collect/tls-proxies.js";
import { describeOrSkip } from "../../../support/describe-or-skip.js";

interface Seen {
  server: string;
  url: string;
  headers: IncomingHttpHeaders;
  bytes: number;
}

const seen: Seen[] = [];

async function startBehind(server: string): Promise<StartedServer> {
  return startServer((incoming, response) => {
    let bytes = 0;
    incoming.on("data", (part: Buffer) => (bytes += part.length));
    incoming.on("end", () => {
      seen.push({ server, url: incoming.url ?? "", headers: incoming.headers, bytes });
      response.writeHead(307, { Location: "https://files.example/" }).end();
    });
  });
}

interface Sent {
  host: string;
  /** Of TLS, where it is another. */
  servername?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

async function send(
  { httpsPort }: TlsProxy,
  { host, servername = host, path = "/", headers = {}, body }: Sent,
): Promise<number> {
  const method = body === undefined ? "GET" : "POST";
  const where = { host: "127.0.0.1", port: httpsPort, servername, path, method, agent: false };
  const sent = request({ ...where, rejectUnauthorized: false, headers: { host, ...headers } });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode ?? 0;
}

/** nginx closes the connection; Caddy answers 200 without a body. */
const NO_ANSWER: (string | number)[] = ["closed", 200, ""];

const PROXIES = [
  { name: "caddy", start: startCaddy },
  { name: "nginx", start: startNginx },
];

for (const { name, start } of PROXIES) {
  const isThere = spawnSync("sh", ["-c", `command -v ${name} && command -v openssl`]).status === 0;
  const missing = isThere ? undefined : `${name} and openssl have to be installed: apt-get install ${name}.`;

  describeOrSkip(`the proxy with TLS of deploy/proxy/, ${name}`, { missing }, () => {
    let [api, collect]: StartedServer[] = [];
    let proxy: TlsProxy;

    beforeAll(async () => {
      api = await startBehind("api");
      collect = await startBehind("collect");
      proxy = await start({ api: api.port, collect: collect.port });
      const isUp = () => send(proxy, { host: "get.you.example" }).catch(() => 0);
      await vi.waitUntil(async () => (await isUp()) === 307, { timeout: 120_000, interval: 50 });
    });

    afterAll(async () => {
      for (const each of [proxy, api, collect]) await each?.[Symbol.asyncDispose]();
    });

    test.each([
      ["stats.you.example", "api"],
      ["get.you.example", "collect"],
      ["cr.you.example", "collect"],
      ["pkgs.you.example", "collect"],
    ])("sends requests of %s to %s, and says whose they are", async (host, server) => {
      const hostile = {
        "X-Forwarded-Port": "666",
        "X-Forwarded-Prefix": "/evil",
        "X-Forwarded-Host": "evil.example",
        Forwarded: "host=evil",
      };
      expect(await send(proxy, { host, path: "/a%2Fb?c=d", headers: hostile })).toBe(307);
      const last = seen.at(-1);
      expect(last).toMatchObject({ server, url: "/a%2Fb?c=d" });
      expect(last?.headers).toMatchObject({ host, "x-forwarded-host": host, "x-forwarded-proto": "https" });
      expect(last?.headers["x-forwarded-for"]).toMatch(/(^|, )127\.0\.0\.1$/);
      expect(last?.headers).not.toHaveProperty("x-forwarded-port");
      expect(last?.headers).not.toHaveProperty("x-forwarded-prefix");
      expect(last?.headers).not.toHaveProperty("forwarded");
    });

    test("answers nobody who names another host", async () => {
      const before = seen.length;
      const [host, known] = ["evil.example", "stats.you.example"];
      const init = { headers: { host }, redirect: "manual" } as const;
      const plain = async () => (await fetch(`http://127.0.0.1:${proxy.httpPort}/`, init)).text();
      const outcomes = [
        await send(proxy, { host }).catch(() => "closed"),
        await send(proxy, { host, servername: known }).catch(() => "closed"),
        await plain().catch(() => "closed"),
      ];
      expect(outcomes.map((each) => NO_ANSWER.includes(each))).toEqual([true, true, true]);
      expect(seen.length).toBe(before);
    });

    test("lets a large import through", async () => {
      const body = Buffer.alloc(8 << 20);
      expect(await send(proxy, { host: "stats.you.example", path: "/v2/acme/import", body })).toBe(307);
      expect(seen.at(-1)).toMatchObject({ server: "api", bytes: body.length });
    });
  });
}
