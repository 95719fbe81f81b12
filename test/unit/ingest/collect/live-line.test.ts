import fc from "fast-check";
import { expect, test } from "vitest";
import type { LiveEvent } from "../../../../ingest/collect/read-collect-request.js";
import { liveLine } from "../../../../ingest/collect/live-line.js";

const event: LiveEvent = { ownerId: "owner", artifact: { kind: "package", id: "p" }, variables: new Map() };
const source = { time: 17, address: "", host: "", headers: {} };

test("has the fields that the request had, and no others", () => {
  expect(liveLine(event, source)).toBe('{"$time":17,"$package":"p"}');
  const said = {
    ...event,
    artifact: { kind: "pixel", id: "x" } as const,
    version: "1",
    platform: "linux",
    client: { name: "node", version: "22.11.0" },
    referrer: "https://page.example/",
  };
  const headers = { "user-agent": "curl/8", referer: "https://other.example/" };
  const line = liveLine(said, { time: 17, address: "::1", host: "h.example", headers });
  expect(JSON.parse(line)).toEqual({
    $time: 17,
    $pixel: "x",
    $remote_address: "::1",
    $user_agent: "curl/8",
    $referrer: "https://page.example/",
    $domain: "h.example",
    $version: "1",
    $platform: "linux",
    $client: "node",
    $client_version: "22.11.0",
  });
  expect(JSON.parse(liveLine(event, { ...source, headers }))).toMatchObject({
    $referrer: "https://other.example/",
  });
});

test("has what the client sent apart from its own keys", () => {
  const sent = ['{"$time":1}', '{"a":1.0,"a":2}'];
  expect(liveLine({ ...event, sent }, source)).toBe(
    '{"$time":17,"$package":"p","$sent":[{"$time":1},{"a":1.0,"a":2}]}',
  );
});

test("omits a version that enrichment would refuse, and keeps the variable", () => {
  const version = "é".repeat(129);
  const line = liveLine({ ...event, version, variables: new Map([["version", version]]) }, source);
  expect(JSON.parse(line)).toEqual({ $time: 17, $package: "p", version });
});

test("is no longer than the stored event, so that few requests cannot fill the buffer", () => {
  const long = "é".repeat(7_000);
  const headers = { "user-agent": long, referer: long };
  const variables = new Map([
    ["long", long],
    ["kept", "x".repeat(1024)],
  ]);
  const line = JSON.parse(liveLine({ ...event, variables }, { ...source, headers })) as object;
  const kept = "é".repeat(2048);
  expect(line).toEqual({
    $time: 17,
    $package: "p",
    $user_agent: kept,
    $referrer: kept,
    kept: "x".repeat(1024),
  });
});

test("holds variables of any name and value on one line", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.string({ unit: "binary", minLength: 1 }))),
      (pairs) => {
        const variables = new Map([["__proto__", "kept"], ...pairs]);
        const line = liveLine({ ...event, variables }, source);
        expect(line).not.toMatch(/[\r\n]/);
        const own = [...variables].filter(([name]) => !name.startsWith("$"));
        const read = Object.entries(JSON.parse(line) as object).filter(
          ([name]) => !/^\$(time|package)$/.test(name),
        );
        expect(new Map(read)).toEqual(new Map(own));
      },
    ),
  );
});
