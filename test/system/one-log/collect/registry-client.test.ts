import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect } from "node:net";
import { pino } from "pino";
import { describe, expect, it, test } from "vitest";
import { createAddressGuard } from "../../../../api/base/outbound/guard-address.js";
import { listen } from "../../../../deploy/roles/servers/listen.js";
import { serverHooks } from "../../../../deploy/roles/servers/create-api-server.js";
import { createCollectServer } from "../../../../ingest/collect/create-collect-server.js";
import { createPullCounter } from "../../../../ingest/collect/docker/count-pulls.js";
import {
  type RegistryAnswer,
  TooManyRequests,
  createRegistryClient,
} from "../../../../ingest/collect/docker/registry-client.js";
import { SiteDirectory } from "../../../../ingest/collect/site-directory.js";
import { NO_INDEX } from "../../../support/collect/fake-registries.js";
import { useServer } from "../../../support/collect/use-server.js";

const BLOB = randomBytes(3_000_000);
/** More than all buffers between a registry and a client hold. */
const LARGE_BYTES = 200_000_000;
const SILENT = pino({ level: "silent" });
const NEVER = new AbortController().signal;

/** The answers of the registry by path. */
const PATHS: Record<string, (response: ServerResponse) => void> = {
  "/length": (response) => response.writeHead(200, { "Content-Length": BLOB.length }).end(BLOB),
  "/chunks": (response) => {
    for (let at = 0; at < BLOB.length; at += 70_001) response.write(BLOB.subarray(at, at + 70_001));
    response.end();
  },
  "/endless": (response) => {
    response.shouldKeepAlive = false;
    response.useChunkedEncodingByDefault = false;
    response.end(BLOB);
  },
  "/crumbs": (response) => {
    response.socket?.cork();
    for (const character of "0123456789".repeat(100)) response.write(character);
    response.end();
    response.socket?.uncork();
  },
  "/empty": (response) => response.writeHead(404, { "Content-Length": 0 }).end(),
  "/cut": (response) => {
    response.writeHead(200, { "Content-Length": 100 }).write("some");
    response.socket?.end();
  },
  "/silent": () => undefined,
  "/begun": (response) => void response.writeHead(200, { "Content-Length": 100 }).write("some"),
  "/once": (response) => response.end("once", () => response.socket?.destroy()),
};

let sent = 0;
function sendLarge(response: ServerResponse): void {
  const part = Buffer.alloc(1_000_000);
  response.writeHead(200, { "Content-Length": LARGE_BYTES });
  const more = () => {
    while (sent < LARGE_BYTES) {
      sent += part.length;
      if (!response.write(part)) return void response.once("drain", more);
    }
    response.end();
  };
  more();
}

const handle: RequestListener = (request, response) => {
  if (request.url?.startsWith("/v2/large/")) return sendLarge(response);
  PATHS[request.url ?? ""]?.(response);
};

const registry = useServer(handle);

const ANYWHERE = createAddressGuard({ allowPrivateNetworks: true }, async () => [
  { address: "127.0.0.1", family: 4 },
]);

async function read({ body }: RegistryAnswer): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

function ask(
  client: ReturnType<typeof createRegistryClient>,
  path: string,
  {
    method = "GET",
    signal = NEVER,
    by = "192.0.2.1",
  }: { method?: "GET" | "HEAD"; signal?: AbortSignal; by?: string } = {},
) {
  const url = `${registry().url}${path}`;
  return client.ask({ method, url, client: by, headers: { accept: ["a", "b"] } }, signal);
}

const openConnections = () =>
  new Promise<number>((resolve) => registry().server.getConnections((_, count) => resolve(count)));

describe("an answer of a registry", () => {
  test.each(["/length", "/chunks", "/endless"])("%s is read whole, again and again", async (path) => {
    using client = createRegistryClient(ANYWHERE);
    for (let time = 0; time < 3; time++) {
      const body = await read(await ask(client, path));
      expect(createHash("sha256").update(body).digest("hex")).toBe(
        createHash("sha256").update(BLOB).digest("hex"),
      );
    }
  });

  it("to HEAD has the headers of the body", async () => {
    using client = createRegistryClient(ANYWHERE);
    const answer = await ask(client, "/length", { method: "HEAD" });
    expect([answer.status, answer.headers["content-length"]]).toEqual([200, [String(BLOB.length)]]);
    expect(await read(answer)).toHaveLength(0);
  });

  it("in many small chunks is read in few parts", async () => {
    using client = createRegistryClient(ANYWHERE);
    const { body } = await ask(client, "/crumbs");
    let parts = 0;
    let text = "";
    for await (const part of body) {
      parts++;
      text += String(part);
    }
    expect(text).toBe("0123456789".repeat(100));
    expect(parts).toBeLessThan(100);
  });

  it("that breaks off fails while it is read", async () => {
    using client = createRegistryClient(ANYWHERE);
    await expect(ask(client, "/cut").then(read)).rejects.toThrow(
      "closed the connection before its response was complete",
    );
  });

  it("that does not come in time is given up", async () => {
    using client = createRegistryClient(ANYWHERE, { answerMsMax: 50 });
    await expect(ask(client, "/silent")).rejects.toThrow("no response in time");
  });

  it("that stops within its body is given up", async () => {
    using client = createRegistryClient(ANYWHERE, { idleMsMax: 50 });
    await expect(ask(client, "/begun").then(read)).rejects.toThrow("was idle");
  });

  test.each(["/silent", "/begun"])("%s ends when the client has gone", async (path) => {
    using client = createRegistryClient(ANYWHERE);
    const gone = new AbortController();
    const reading = ask(client, path, { signal: gone.signal }).then(read);
    const failed = expect(reading).rejects.toThrow("aborted");
    await expect.poll(openConnections).toBe(1);
    gone.abort();
    await failed;
    await expect.poll(openConnections).toBe(0);
  });
});

describe("connections to a registry", () => {
  it("are kept for the next request", async () => {
    using client = createRegistryClient(ANYWHERE);
    let opened = 0;
    const count = () => void opened++;
    registry().server.on("connection", count);
    for (const path of ["/length", "/empty", "/chunks"]) await read(await ask(client, path));
    registry().server.off("connection", count);
    expect(opened).toBe(1);
  });

  it("that the registry has closed meanwhile are not noticed", async () => {
    using client = createRegistryClient(ANYWHERE);
    for (let time = 0; time < 5; time++) expect(String(await read(await ask(client, "/once")))).toBe("once");
  });

  it("are not more than allowed", async () => {
    using client = createRegistryClient(ANYWHERE, { requestsMax: 2 });
    const held = await Promise.all(["192.0.2.1", "192.0.2.2"].map((by) => ask(client, "/begun", { by })));
    expect(held.map(({ status }) => status)).toEqual([200, 200]);
    await expect(ask(client, "/length", { by: "192.0.2.3" })).rejects.toThrow(TooManyRequests);
  });

  it("are left to others by a client that holds half of them", async () => {
    using client = createRegistryClient(ANYWHERE, { requestsMax: 4 });
    for (const by of ["192.0.2.1", "192.0.2.1"]) await ask(client, "/begun", { by });
    await expect(ask(client, "/begun")).rejects.toThrow(TooManyRequests);
    expect(await ask(client, "/begun", { by: "192.0.2.2" })).toMatchObject({ status: 200 });
  });

  test.each(["127.0.0.1", "registry.example"])("are not made to %s, which is private", async (host) => {
    using client = createRegistryClient(
      createAddressGuard({ allowPrivateNetworks: false }, async () => [{ address: "10.0.0.1", family: 4 }]),
    );
    const asked = {
      method: "GET",
      url: `http://${host}:${registry().port}/length`,
      client: "",
      headers: {},
    } as const;
    await expect(client.ask(asked, NEVER)).rejects.toThrow("must not point to");
  });
});

describe("a blob through live collection", () => {
  async function startCollecting(limits: { partMsMax?: number } = {}) {
    const sites = new SiteDirectory();
    const ids = {
      id: "01990000-0000-7000-8000-000000000001",
      ownerId: "01990000-0000-7000-8000-0000000000aa",
    };
    const urls = { backendUrl: `${registry().url}/large`, publicUrl: "http://cr.example/large" };
    const rest = {
      name: "large",
      libraryType: "docker",
      repositoryUrl: null,
      domains: [],
      routes: [],
    } as const;
    sites.putPackage({ ...ids, ...urls, ...rest, publicHost: "cr.example" });
    const registries = createRegistryClient(ANYWHERE);
    const imagePulls = {
      registries,
      counter: createPullCounter({ now: () => 0 }),
      clientOf: () => "",
      via: "1.1 collector",
      onFailure: () => undefined,
    };
    const server = createCollectServer({
      collecting: { sites, pythonIndex: NO_INDEX, imagePulls },
      trustsProxy: () => false,
      hooks: serverHooks({ readiness: { checks: {} }, log: SILENT }),
      log: SILENT,
      onEvent: () => undefined,
      onAnswered: () => undefined,
      ...limits,
    });
    return listen(server, { host: "127.0.0.1", port: 0, variable: "COLLECT_PORT" });
  }

  function get(port: number, times = 1) {
    const socket = connect(port, "127.0.0.1");
    const path = `/v2/large/blobs/sha256:${"0".repeat(64)}`;
    const connection = times === 1 ? "close" : "keep-alive";
    const request = `GET ${path} HTTP/1.1\r\nHost: cr.example\r\nUser-Agent: crane/1\r\nConnection: ${connection}\r\n\r\n`;
    socket.write(request.repeat(times));
    return socket;
  }

  it("is read from the registry no faster than the client takes it, and arrives whole", async () => {
    await using collecting = await startCollecting();
    sent = 0;
    const socket = get(collecting.port).pause();
    let before = -1;
    const hasStopped = () => {
      const same = sent > 0 && sent === before;
      before = sent;
      return same;
    };
    await expect.poll(hasStopped, { interval: 200 }).toBe(true);
    expect(sent).toBeLessThan(LARGE_BYTES / 4);
    socket.resume();
    await once(socket, "close");
    expect(sent).toBe(LARGE_BYTES);
    expect(socket.bytesRead).toBeGreaterThan(LARGE_BYTES);
  });

  it("ends when the client does not take it", async () => {
    await using collecting = await startCollecting({ partMsMax: 50 });
    const socket = get(collecting.port).pause();
    await expect.poll(openConnections).toBe(0);
    socket.resume();
    await once(socket, "close");
    expect(socket.bytesRead).toBeLessThan(LARGE_BYTES);
  });

  it("is not read any more when a client has gone that asked for several one behind another", async () => {
    await using collecting = await startCollecting();
    sent = 0;
    const socket = get(collecting.port, 3);
    await once(socket, "readable");
    await expect.poll(openConnections).toBe(3);
    socket.destroy();
    await expect.poll(openConnections).toBe(0);
  });

  it("is not read any more when the client has gone", async () => {
    await using collecting = await startCollecting();
    sent = 0;
    const socket = get(collecting.port);
    await once(socket, "readable");
    socket.destroy();
    await expect.poll(openConnections).toBe(0);
    expect(sent).toBeLessThan(LARGE_BYTES);
  });
});
