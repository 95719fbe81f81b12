import type { LookupAddress } from "node:dns";
import type { RequestListener, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, it, test } from "vitest";
import { createAddressGuard } from "../../../../api/base/outbound/guard-address.js";
import { type FetchIndex, createIndexClient } from "../../../../ingest/collect/python/fetch-index.js";
import { useServer } from "../../../support/collect/use-server.js";

/** The upstream's answer on each path, and the requests that came to it. */
const PATHS: Record<string, (response: ServerResponse) => void> = {
  "/plain": (response) => response.end("a page"),
  "/gzip": (response) => response.setHeader("Content-Encoding", "gzip").end(gzipSync("a page")),
  "/broken": (response) => response.setHeader("Content-Encoding", "gzip").end("no gzip"),
  "/brotli": (response) => response.setHeader("Content-Encoding", "br").end("?"),
  "/one": (response) => response.writeHead(301, { Location: "/plain" }).end(),
  "/three": (response) => response.writeHead(307, { Location: "/two" }).end(),
  "/two": (response) => response.writeHead(308, { Location: "one" }).end(),
  "/four": (response) => response.writeHead(302, { Location: "/three" }).end(),
  "/away": (response) => response.writeHead(302, { Location: "http://169.254.169.254/latest" }).end(),
  "/file": (response) => response.writeHead(302, { Location: "file:///etc/passwd" }).end(),
  "/nowhere": (response) => response.writeHead(302, { Location: "http://[" }).end(),
  "/cut": (response) => {
    response.writeHead(200, { "Content-Length": "100" }).write("a pa");
    setTimeout(() => response.destroy(), 20);
  },
  "/silent": () => undefined,
  "/endless": (response) => {
    const timer = setInterval(() => response.writeEarlyHints({ link: "</style.css>; rel=preload" }), 1);
    response.once("close", () => clearInterval(timer));
  },
  "/switched": (response) =>
    void response.socket?.end(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    ),
  "/unbounded": (response) => void response.socket?.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na page"),
  "/slow": (response) => void response.writeHead(200).write("a pa"),
};

const asked: { url: string | undefined; headers: NodeJS.Dict<string | string[]> }[] = [];
const handle: RequestListener = (request, response) => {
  asked.push({ url: request.url, headers: request.headers });
  PATHS[request.url ?? ""]?.(response);
};

const upstream = useServer(handle);
beforeEach(() => void asked.splice(0));

const PUBLIC: LookupAddress = { address: "93.184.215.14", family: 4 };
const LOOPBACK: LookupAddress = { address: "127.0.0.1", family: 4 };

function clientOf(allowPrivateNetworks: boolean, addresses: LookupAddress[] = [LOOPBACK]): FetchIndex {
  return createIndexClient(createAddressGuard({ allowPrivateNetworks }, async () => addresses));
}

const NEVER = new AbortController().signal;

describe("a page of an upstream", () => {
  test.each([
    ["/plain", "/plain"],
    ["/gzip", "/gzip"],
    ["/one", "/plain"],
    ["/three", "/plain"],
  ])("at %s is read from %s", async (path, end) => {
    const answer = await clientOf(true)(upstream().url + path, { Accept: "text/html" }, NEVER);
    expect([answer.status, answer.url]).toEqual([200, upstream().url + end]);
    expect(await text(answer.body)).toBe("a page");
    expect(asked.at(-1)?.headers).toMatchObject({ accept: "text/html", "accept-encoding": "gzip" });
  });

  test.each([
    ["/plain", true],
    ["/gzip", true],
    ["/unbounded", false],
  ])("at %s is delimited: %s", async (path, isDelimited) => {
    const answer = await clientOf(true)(upstream().url + path, {}, NEVER);
    expect([answer.isDelimited, await text(answer.body)]).toEqual([isDelimited, "a page"]);
  });

  it("is asked for by the name that it has", async () => {
    const answer = await clientOf(true)(`http://index.example:${upstream().port}/plain`, {}, NEVER);
    expect(await text(answer.body)).toBe("a page");
    expect(asked[0]?.headers.host).toBe(`index.example:${upstream().port}`);
  });

  test.each([
    ["/four", "was redirected more than 3 times"],
    ["/file", "was redirected from https to http, or to another protocol: file://"],
    ["/nowhere", "was redirected to an invalid URL: http://["],
    ["/brotli", "used Content-Encoding br"],
    ["/switched", "closed the connection without a response"],
    ["/endless", "sends too many interim responses"],
  ])("at %s is not had: it %s", async (path, message) => {
    await expect(clientOf(true)(upstream().url + path, {}, NEVER)).rejects.toThrow(message);
  });

  test.each([
    ["/broken", "incorrect header check"],
    ["/cut", "aborted"],
  ])("at %s breaks while it is read: %s", async (path, message) => {
    const answer = await clientOf(true)(upstream().url + path, {}, NEVER);
    await expect(text(answer.body)).rejects.toThrow(message);
  });

  it("that does not come in time is given up, before and behind its first byte", async () => {
    const signal = AbortSignal.timeout(200);
    await expect(clientOf(true)(`${upstream().url}/silent`, {}, signal)).rejects.toThrow("aborted");
    const slow = AbortSignal.timeout(200);
    const answer = await clientOf(true)(`${upstream().url}/slow`, {}, slow);
    await expect(text(answer.body)).rejects.toThrow("aborted");
  });

  it("is given up when nobody reads its body", async () => {
    const answer = await clientOf(true)(`${upstream().url}/slow`, {}, NEVER);
    answer.discard();
    const open = () =>
      new Promise((resolve) => upstream().server.getConnections((_, count) => resolve(count)));
    await expect.poll(open).toBe(0);
  });
});

describe("an address that is not one of the public internet", () => {
  test.each([
    ["as it stands", (port: number) => `http://127.0.0.1:${port}/plain`, [PUBLIC]],
    ["as a number", (port: number) => `http://2130706433:${port}/plain`, [PUBLIC]],
    ["of the machine itself", (port: number) => `http://localhost:${port}/plain`, [PUBLIC]],
    ["in IPv6", (port: number) => `http://[::ffff:127.0.0.1]:${port}/plain`, [PUBLIC]],
    ["behind a name", (port: number) => `http://index.example:${port}/plain`, [LOOPBACK]],
    ["beside a public one", (port: number) => `http://index.example:${port}/plain`, [PUBLIC, LOOPBACK]],
  ])("%s is not connected to", async (_, url, addresses) => {
    const fetched = clientOf(false, addresses)(url(upstream().port), {}, NEVER);
    await expect(fetched).rejects.toThrow("must not point to");
    expect(asked).toEqual([]);
  });

  it("is not connected to behind a redirect either", async () => {
    const guard = createAddressGuard({ allowPrivateNetworks: false }, async () => [LOOPBACK]);
    const here = createAddressGuard({ allowPrivateNetworks: true }, async () => [LOOPBACK]);
    const first = (url: string) => url.startsWith("http://index.example");
    const client = createIndexClient({
      faultOf: (url) => (first(url) ? undefined : guard.faultOf(url)),
      lookup: here.lookup,
    });
    const fetched = client(`http://index.example:${upstream().port}/away`, {}, NEVER);
    await expect(fetched).rejects.toThrow("must not point to 169.254.169.254");
  });
});
