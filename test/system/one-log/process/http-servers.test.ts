import { Agent, type IncomingMessage, createServer, get } from "node:http";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { pino } from "pino";
import { createCollectServer } from "../../../../ingest/collect/create-collect-server.js";
import { serverHooks } from "../../../../deploy/roles/servers/create-api-server.js";
import { listen } from "../../../../deploy/roles/servers/listen.js";
import { createRegistry } from "../../../../deploy/metrics/pipeline-metrics.js";
import { startMetricsServer } from "../../../../deploy/roles/servers/start-metrics-server.js";
import { StartFailure } from "../../../../deploy/process/start-failure.js";
import { SiteDirectory } from "../../../../ingest/collect/site-directory.js";
import { fakeRegistries, NO_INDEX } from "../../../support/collect/fake-registries.js";

const SILENT = pino({ level: "silent" });
const ANY = { host: "127.0.0.1", port: 0, variable: "PORT" };

test("port 0 takes a free port and says which", async () => {
  await using first = await listen(createServer(), ANY);
  await using second = await listen(createServer(), ANY);
  expect(first.url).toBe(`http://127.0.0.1:${first.port}`);
  expect(second.port).not.toBe(first.port);
});

test("a taken port is a sentence with the variable that moves it", async () => {
  await using first = await listen(createServer(), ANY);
  const second = listen(createServer(), { ...ANY, port: first.port, variable: "COLLECT_PORT" });
  await expect(second).rejects.toThrow(StartFailure);
  await expect(second).rejects.toThrow(`port ${first.port} on 127.0.0.1 is taken (COLLECT_PORT): `);
});

test("an address of another machine is a sentence that names HOST", async () => {
  const opening = listen(createServer(), { ...ANY, host: "192.0.2.1", port: 8080 });
  await expect(opening).rejects.toThrow(
    "port 8080 (PORT) cannot be opened because 192.0.2.1 (HOST) is not an address of this machine",
  );
});

test("closing waits for the request in hand, and not for connections that clients keep open", async () => {
  const answers: (() => void)[] = [];
  const inner = createServer((_, response) => void answers.push(() => response.end("done")));
  const cut = vi.spyOn(inner, "closeAllConnections");
  const server = await listen(inner, ANY);
  const agent = new Agent({ keepAlive: true });
  const request = get(server.url, { agent });
  await expect.poll(() => answers.length).toBe(1);
  const closing = server[Symbol.asyncDispose]();
  answers.forEach((answer) => answer());
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(await text(response)).toBe("done");
  await closing;
  expect(cut).not.toHaveBeenCalled();
  agent.destroy();
});

test("metrics are Prometheus text about the process", async () => {
  await using server = await startMetricsServer({
    host: "127.0.0.1",
    port: 0,
    metrics: () => createRegistry().metrics(),
    checks: {},
  });
  const response = await fetch(`${server.url}/metrics`);
  expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  expect(await response.text()).toMatch(/^process_resident_memory_bytes \d+$/m);
  expect((await fetch(`${server.url}/other`)).status).toBe(404);
  expect((await fetch(`${server.url}/metrics`, { method: "POST" })).status).toBe(405);
  const root = await fetch(server.url);
  expect(root.status).toBe(404);
  expect(await root.text()).toBe("Not found. This port serves /metrics, /healthz, /readyz.\n");
});

test("many requests for metrics are rendered once, and answered once a connection", async () => {
  const metrics = vi.fn(async () => "numbers");
  const sources = { metrics, checks: {}, reuseMs: 60_000 };
  await using server = await startMetricsServer({ host: "127.0.0.1", port: 0, ...sources });
  const one = connect(server.port, "127.0.0.1");
  one.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(400));
  const answers = [text(one), fetch(`${server.url}/metrics`).then((other) => other.text())];
  for (const answer of await Promise.all(answers)) expect(answer.match(/numbers/g)).toHaveLength(1);
  expect(metrics).toHaveBeenCalledTimes(1);
});

test("metrics are rendered again when a text was answered long enough, also after one that failed", async () => {
  const metrics = vi.fn(async () => "numbers").mockRejectedValueOnce(new Error("away"));
  const sources = { metrics, checks: {}, reuseMs: 1 };
  await using server = await startMetricsServer({ host: "127.0.0.1", port: 0, ...sources });
  expect((await fetch(`${server.url}/metrics`)).status).toBe(500);
  await expect.poll(async () => (await fetch(`${server.url}/metrics`)).text()).toBe("numbers");
  expect(metrics).toHaveBeenCalledTimes(2);
});

test.each([
  ["without a host", "GET /metrics HTTP/1.1\r\n\r\n", "The Host header is missing."],
  [
    "with two",
    "GET /metrics HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "The request has more than one Host header.",
  ],
  [
    "with another coding than chunks",
    "GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "This Transfer-Encoding is not supported. Use chunked.",
  ],
  [
    "that is no HTTP",
    "GET /metrics HTTP/1.1\r\nHost: x\r\n no\0name\r\n\r\n",
    "The request is not valid HTTP.",
  ],
])("the port of metrics refuses a request %s as the API does", async (_, sent, message) => {
  await using server = await startMetricsServer({
    host: "127.0.0.1",
    port: 0,
    metrics: async () => "",
    checks: {},
  });
  const socket = connect(server.port, "127.0.0.1");
  socket.write(sent);
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer.endsWith(JSON.stringify({ code: "malformed-request", message }))).toBe(true);
});

test("the port of metrics closes connections that say nothing", async () => {
  const sources = { metrics: async () => "", checks: {}, idleMsMax: 50 };
  await using server = await startMetricsServer({ host: "127.0.0.1", port: 0, ...sources });
  const silent = connect(server.port, "127.0.0.1");
  await once(silent, "close");
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

test("live collection passes over an expectation that nobody knows, and refuses two Hosts, as the API does", async () => {
  const collect = createCollectServer({
    collecting: {
      sites: new SiteDirectory(),
      pythonIndex: NO_INDEX,
      imagePulls: fakeRegistries(),
    },
    trustsProxy: () => false,
    hooks: serverHooks({ readiness: { checks: {} }, log: SILENT }),
    log: SILENT,
    onEvent: () => undefined,
    onAnswered: () => undefined,
  });
  await using server = await listen(collect, ANY);
  const request = get(`${server.url}/healthz`, { headers: { Expect: "wonders" } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect([response.statusCode, await text(response)]).toEqual([200, '{"status":"ok"}']);
  const ambiguous = connect(server.port, "127.0.0.1");
  ambiguous.write("GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n");
  expect(await text(ambiguous)).toMatch(/^HTTP\/1\.1 400 /);
});
