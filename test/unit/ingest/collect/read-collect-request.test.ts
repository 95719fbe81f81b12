import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { trustsProxy } from "../../../../deploy/roles/servers/listen.js";
import {
  BodyTooLarge,
  readCollectRequest,
  readSmallBody,
} from "../../../../ingest/collect/read-collect-request.js";

function incoming(
  url: string,
  headers: Record<string, string>,
  remoteAddress = "192.0.2.1",
): IncomingMessage {
  return { method: "GET", url, headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}

const trusted = trustsProxy(["10.0.0.0/8"]);
const read = (...of: Parameters<typeof incoming>) => readCollectRequest(incoming(...of), trusted);

describe("the host of a request", () => {
  const forwarded = { host: "inner:80", "x-forwarded-host": "files.example, cdn.example" };
  test.each([
    ["is in lower case", "/", { host: "FILES.Example" }, undefined, "files.example"],
    ["has no port", "/", { host: "files.example:8081" }, undefined, "files.example"],
    ["has no port after IPv6", "/", { host: "[::1]:8081" }, undefined, "[::1]"],
    ["has no dot at its end", "/", { host: "files.example." }, undefined, "files.example"],
    ["is nothing where there is none", "/", {}, undefined, ""],
    ["is that of a whole URL", "http://files.example/a", { host: "b" }, undefined, "files.example"],
    ["is what a trusted proxy says", "/", forwarded, "10.0.0.1", "files.example"],
    ["is not what anybody else says", "/", forwarded, "192.0.2.1", "inner"],
    [
      "is what Forwarded says",
      "/",
      { host: "inner", forwarded: 'for=a;host="Files.example:8443"' },
      "10.0.0.1",
      "files.example",
    ],
    ["is not decoded twice", "/", { host: "files%2eexample" }, undefined, "files.example"],
    [
      "may have underscores",
      "/",
      { host: "a", "x-forwarded-host": "my_files.example.:80" },
      "10.0.0.1",
      "my_files.example",
    ],
    ["is IPv6 in its shortest spelling", "/", { host: "[2001:DB8:0::1]:8081" }, undefined, "[2001:db8::1]"],
    ["is no nonsense of a proxy", "/", { host: "a", "x-forwarded-host": "b/c?" }, "10.0.0.1", "a"],
  ])("%s", (_, url, headers, remoteAddress, host) => {
    expect(read(url, headers as Record<string, string>, remoteAddress).host).toBe(host);
  });
});

test("the address of a request is the client's, as a trusted proxy says it", () => {
  const headers = { host: "a", "x-forwarded-for": "203.0.113.9, [2001:db8::7]:443" };
  expect(read("/", headers, "10.0.0.1").address).toBe("2001:db8::7");
  expect(read("/", headers, "192.0.2.1").address).toBe("192.0.2.1");
});

describe("the target of a request", () => {
  test.each([
    ["/a/b", { path: "/a/b", query: "" }],
    ["/a?b=1?2", { path: "/a", query: "b=1?2" }],
    ["/?", { path: "/", query: "" }],
    ["//evil/x?y", { path: "//evil/x", query: "y" }],
    ["http://files.example", { path: "/", query: "" }],
    ["http://files.example?a=1", { path: "/", query: "a=1" }],
    ["HTTPS://files.example/a?b", { path: "/a", query: "b" }],
    ["*", { path: "*", query: "" }],
  ])("of %s is %j", (url, target) => {
    expect(read(url, { host: "files.example" })).toMatchObject(target);
  });
});

describe("a body", () => {
  const bodyOf = (sizes: number[], headers: Record<string, string> = {}) =>
    readSmallBody(
      Object.assign(Readable.from(sizes.map((size) => Buffer.alloc(size))), { headers }) as IncomingMessage,
    );

  const packedBody = (body: Buffer, headers: Record<string, string>) =>
    readSmallBody(Object.assign(Readable.from([gzipSync(body)]), { headers }) as unknown as IncomingMessage);

  test("is read whole up to 64 KiB", async () => {
    expect((await bodyOf([65_000, 536])).length).toBe(65_536);
    expect((await bodyOf([])).length).toBe(0);
  });

  test("is unpacked, up to 64 KiB", async () => {
    const gzip = { "content-encoding": "gzip" };
    expect((await packedBody(Buffer.alloc(65_536, "a"), gzip)).length).toBe(65_536);
    await expect(packedBody(Buffer.alloc(65_537), gzip)).rejects.toThrow(BodyTooLarge);
    expect((await bodyOf([10], gzip)).length).toBe(10);
  });

  test("is refused above that, before reading when Content-Length says so", async () => {
    await expect(bodyOf([65_000, 537])).rejects.toThrow(BodyTooLarge);
    await expect(bodyOf([], { "content-length": "65537" })).rejects.toThrow(BodyTooLarge);
  });
});
