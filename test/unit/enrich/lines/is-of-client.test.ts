import { expect, test } from "vitest";
import { isOfClient as isOf } from "../../../../enrich/lines/is-of-client.js";
import { endpointId, openIds, originId } from "../../../../enrich/lookups/open-ids.js";

const KEY = new Uint8Array(32).fill(7);
const ids = openIds(KEY);
const isOfClient = (line: Buffer, client: Parameters<typeof isOf>[1]) => isOf(line, client, ids);
const endpoint = (address: string) => ({
  kind: "endpoint_id" as const,
  clientId: endpointId(ids, address),
});
const origin = (address: string, agent: string) => ({
  kind: "origin_id" as const,
  clientId: originId(ids, address, agent),
});
const AGENT = "docker/27.3.1";

test.each<[string, string, string?]>([
  ["in a line", '{"$remote_address": "203.0.113.7", "$time": "soon"}'],
  ["in a line of IPv6, however it is spelled", '{"$remote_address": "2001:DB8:0::7"}', "2001:db8::7"],
  ["in a text that is no JSON", "203.0.113.7 - - [x] GET /"],
  ["in a line that has it elsewhere", '{"note": "from 203.0.113.7, say"}'],
  ["next to a port", "203.0.113.7:52311 - - [x] GET /"],
  ["next to a name", "ip:203.0.113.7"],
  ["next to the end of a sentence", "refused from 203.0.113.7."],
  ["next to letters that are digits elsewhere", "face203.0.113.7bad"],
  ["next to a number and a dot", "1.203.0.113.7"],
  ["next to an escape of a URL", "GET /?q=from%20203.0.113.7"],
  ["next to an escape of a log", String.raw`"\x22203.0.113.7\x22"`],
  ["next to an escape of JSON", String.raw`"\u0022203.0.113.7\u0022`],
  ["next to its form in IPv6", "client=::ffff:203.0.113.7:52311"],
  ["next to the end of a sentence", "refused from 2001:db8::7.", "2001:db8::7"],
  ["next to a port", "[2001:db8::7]:443", "2001:db8::7"],
  ["next to a port without brackets", "2001:db8::7:443", "2001:db8::7"],
  ["next to a port behind eight groups", "2001:db8:0:0:0:0:0:7:443", "2001:db8::7"],
  ["next to a dot behind eight groups", "from 2001:db8:0:0:0:0:0:7.", "2001:db8::7"],
  ["next to IPv4 behind six groups", "64:ff9b:0:0:0:0:203.0.113.7.", "64:ff9b::cb00:7107"],
  ["next to a name", "add:2001:db8::7:", "2001:db8::7"],
  ["next to letters that are digits", "face2001:db8::abcdef", "2001:db8::abcd"],
  ["next to colons that end it", "2001:db8:::443", "2001:db8::"],
  ["next to colons before it", "from:::7", "::7"],
  ["next to escaped colons", "ip=2001%3Adb8%3A%3a7", "2001:db8::7"],
  ["next to its last bytes as IPv4", "64:ff9b::203.0.113.7:443", "64:ff9b::cb00:7107"],
])("finds an address %s: %s", (_, line, address = "203.0.113.7") => {
  expect(isOfClient(Buffer.from(line), endpoint(address))).toBe(true);
  expect(isOfClient(Buffer.from(line), endpoint("203.0.113.8"))).toBe(false);
});

test.each(["1203.0.113.7", "203.0.113.71", "203.0.113", "203.0.113.7777", "203.0.113.07", "203.0..113.7"])(
  "%s is not of 203.0.113.7",
  (line) => expect(isOfClient(Buffer.from(line), endpoint("203.0.113.7"))).toBe(false),
);

test("an IPv6 address whose last number is longer is another", () => {
  expect(isOfClient(Buffer.from("from 2001:db8::7f"), endpoint("2001:db8::7"))).toBe(false);
});

const mebibyteOf = (piece: string) => Buffer.from(`${piece.repeat(2 ** 20 / piece.length)} 203.0.113.7:1`);

test.each(["1", "f", "%41", "a:b "])("a line of 1 MiB of %s is searched to its end", (piece) => {
  expect(isOfClient(mebibyteOf(piece), endpoint("203.0.113.7"))).toBe(true);
  expect(isOfClient(mebibyteOf(piece), endpoint("203.0.113.8"))).toBe(false);
});

test.each(["1.", "1:", "12345::", ":", "255.255.255.", "1:2:3:4:5:6:7.", "::1.1.1"])(
  "a line of 1 MiB of %s has too much that could be an address, and is of every endpoint",
  (piece) => expect(isOfClient(mebibyteOf(piece), endpoint("203.0.113.8"))).toBe(true),
);

test("a line with more addresses than are looked at is of every endpoint", () => {
  const addresses = Array.from({ length: 1_001 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  expect(isOfClient(Buffer.from(addresses.join(" ")), endpoint("203.0.113.7"))).toBe(true);
  expect(isOfClient(Buffer.from(addresses.slice(1).join(" ")), endpoint("203.0.113.7"))).toBe(false);
});

test.each([
  ["$user_agent", { $user_agent: AGENT }],
  ["a header", { $headers: [{ name: "user-agent", value: AGENT }] }],
])("a line is of the program that its %s names", (_, fields) => {
  const line = Buffer.from(JSON.stringify({ $remote_address: "203.0.113.7", $package: 1, ...fields }));
  expect(isOfClient(line, origin("203.0.113.7", AGENT))).toBe(true);
  expect(isOfClient(line, origin("203.0.113.7", "curl/8"))).toBe(false);
  expect(isOfClient(line, origin("203.0.113.8", AGENT))).toBe(false);
});

test.each([
  ["combined", String.raw`203.0.113.7 - - [x] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11; \x22q\x22)"`],
  ["cloudfront", "2026-11-01\t203.0.113.7\t/a\tMozilla/5.0%20(X11;%20%22q%22)"],
  ["CSV", '2026-11-01,203.0.113.7,"Mozilla/5.0 (X11; ""q"")",1'],
  ["JSON of a server", '{"ip":"203.0.113.7:1","headers":{"User-Agent":["Mozilla/5.0 (X11; \\"q\\")"]}}'],
])("a line of the format %s is of the program that it names", (_, text) => {
  const line = Buffer.from(text);
  expect(isOfClient(line, origin("203.0.113.7", 'Mozilla/5.0 (X11; "q")'))).toBe(true);
  expect(isOfClient(line, origin("203.0.113.7", "curl/8"))).toBe(false);
  expect(isOfClient(line, origin("203.0.113.8", 'Mozilla/5.0 (X11; "q")'))).toBe(false);
});

test("a line with more clients than are looked at is of every origin", () => {
  const texts = Array.from({ length: 2_000 }, (_, at) => `"${at}"`);
  expect(isOfClient(Buffer.from(`203.0.113.7 ${texts.join(" ")}`), origin("203.0.113.9", "x"))).toBe(true);
});

test("a line without an address is nobody's", () => {
  for (const line of ["", "{}", "[1]", '{"$remote_address": 7}', "1.2.3", "::::"]) {
    expect(isOfClient(Buffer.from(line), endpoint("203.0.113.7"))).toBe(false);
    expect(isOfClient(Buffer.from(line), origin("203.0.113.7", ""))).toBe(false);
  }
});

const LOGGED = `203.0.113.7 - - [x] "GET / HTTP/1.1" 200 1 "-" "${AGENT}"`;

test.each([
  ["in JSON of Docker", JSON.stringify({ log: `${LOGGED}\n`, stream: "stdout" })],
  ["behind the prefix of a shipper", `nginx-1  | ${LOGGED}`],
  ["cut at its end", LOGGED.slice(0, -1)],
  ["percent-encoded once", `x\t203.0.113.7\tdocker%2F27.3.1\t-`],
  ["percent-encoded twice", `x\t203.0.113.7\tdocker%252F27.3.1\t-`],
])("the agent of a line of a log is found %s", (_, line) => {
  expect(isOfClient(Buffer.from(line), origin("203.0.113.7", AGENT))).toBe(true);
  expect(isOfClient(Buffer.from(line), origin("203.0.113.7", "docker/27.3.2"))).toBe(false);
});
