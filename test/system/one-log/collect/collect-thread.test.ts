import { pino } from "pino";
import { expect, test } from "vitest";
import { startCollect, type Collect } from "../../../../deploy/roles/start-collect.js";

/** A thread that says what it was asked and serves any path; `/break` breaks it. */
const HEAD = `
  import { createServer } from "node:http";
  import { parentPort, workerData } from "node:worker_threads";
  const { host, port } = workerData.config.collect;
  const server = createServer((request, response) => {
    if (request.url === "/break") throw new Error("it broke");
    response.end("served");
  });
  server.listen(port, host, () => {
    const { port } = server.address();
    parentPort.postMessage({ ready: true, url: "http://" + host + ":" + port, port });
  });
  const tell = (metrics) => parentPort.postMessage({ metrics });
  let scrapes = 0;`;

function start(onMessage: string): Promise<Collect> {
  const script = `${HEAD} parentPort.on("message", (message) => { ${onMessage} });`;
  return startCollect({
    config: {
      collect: { host: "127.0.0.1", port: 0, allowPrivateUpstreams: false },
      dataDir: "data",
      logCodec: "none",
      logLevel: "silent",
      trustedProxies: [],
    },
    stores: { logSource: { dir: "" }, postgresUrl: "", clickhouseSource: { url: "" } },
    log: pino({ level: "silent" }),
    module: new URL(`data:text/javascript,${encodeURIComponent(script)}`),
  });
}

const STOP = `if ("stop" in message) process.exit();`;

test("live collection that breaks is served again where it was", async () => {
  await using collect = await start(STOP);
  await fetch(`${collect.url}/break`).catch(() => undefined);
  await expect.poll(() => collect.isServing()).toBe(false);
  await expect.poll(() => collect.isServing()).toBe(true);
  expect(await (await fetch(collect.url)).text()).toBe("served");
});

test("two scrapes at the same time get the same metrics, a later one new metrics", async () => {
  await using collect = await start(`${STOP} setTimeout(() => tell(String(++scrapes)), 50);`);
  expect(await Promise.all([collect.metrics(), collect.metrics()])).toEqual(["1", "1"]);
  expect(await collect.metrics()).toBe("2");
});

test("metrics of a thread that ends meanwhile are those that it sent last", async () => {
  await using collect = await start(
    `${STOP} if (++scrapes === 2) throw new Error("it broke"); tell("told");`,
  );
  expect(await collect.metrics()).toBe("told");
  expect(await collect.metrics()).toBe("told");
});

test("metrics that a blocked thread sends too late answer the next scrape", async () => {
  const block = `if (++scrapes === 2) { const end = Date.now() + 8_000; while (Date.now() < end); }`;
  await using collect = await start(`${STOP} ${block} tell(String(scrapes));`);
  expect(await collect.metrics()).toBe("1");
  expect(await collect.metrics()).toBe("1");
  expect(await collect.metrics()).toBe("2");
  expect(await collect.metrics()).toBe("3");
});

test("metrics that a thread sends at its end answer every later scrape", async () => {
  const collect = await start(`if ("stop" in message) { tell("at the end"); process.exit(); }`);
  await collect[Symbol.asyncDispose]();
  expect([collect.isServing(), await collect.metrics()]).toEqual([false, "at the end"]);
});
