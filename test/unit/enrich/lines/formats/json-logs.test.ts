import { describe, expect, test } from "vitest";
import { decodeBody, fixture, type Read } from "./decode-body.js";

const AGENT = 'Mozilla/5.0 (X11; Linux "quoted") Gecko\\back é';

/** The requests of both fixtures are those of the other servers, after a line about the server itself. */
const WANTED: readonly Read[] = [
  "skipped",
  expect.objectContaining({ version: "1.4.0", $version: "1.4.0", $user_agent: "curl/7.88.1" }) as Read,
  expect.objectContaining({ $referrer: 'https://example.org/a?b="c"', $user_agent: AGENT }) as Read,
  "skipped",
  "skipped",
  "skipped",
  "skipped",
  expect.objectContaining({ version: "1.4.0" }) as Read,
  expect.objectContaining({ version: "1.4.0" }) as Read,
];

describe.each(["caddy", "traefik"] as const)("a log of %s", (format) => {
  const read = (text: string, path = "") => decodeBody(text, { format, path });

  test("is read as that of another server", () => {
    expect(read(fixture(`formats/${format}.txt`), "/releases/tool-{version}.tar.gz")).toEqual(WANTED);
  });

  test.each(["{}", "[1]", "no JSON", '{"$time":1}', '{"request":7,"status":200,"RequestMethod":"GET"}'])(
    "refuses %s",
    (line) => expect(read(line)).toEqual([`Not a line of the format ${format}`]),
  );
});

test("the address of a request is that behind trusted proxies, in each version of Caddy", () => {
  const line = (request: object) =>
    JSON.stringify({ ts: 1.5, status: 200, request: { method: "GET", uri: "/a", ...request } });
  const lines = [
    { client_ip: "192.0.2.1", remote_ip: "10.0.0.1" },
    { remote_ip: "192.0.2.2" },
    { remote_addr: "192.0.2.3:4711" },
    { remote_addr: "[2001:db8::1]:5555" },
    {},
  ].map(line);
  const read = decodeBody(lines.join("\n"), { format: "caddy" }) as Record<string, unknown>[];
  expect(read.map(({ $remote_address }) => $remote_address)).toEqual([
    "192.0.2.1",
    "192.0.2.2",
    "192.0.2.3",
    "2001:db8::1",
    undefined,
  ]);
});
