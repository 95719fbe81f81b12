import { expect, test } from "vitest";
import { isOfClient as isOf } from "../../../../enrich/lines/is-of-client.js";
import { openAddressCache } from "../../../../enrich/lookups/address-cache.js";
import { openIds } from "../../../../enrich/lookups/open-ids.js";

const KEY = new Uint8Array(32).fill(7);
const ids = openIds(KEY, openAddressCache({ cacheBytesMax: 1_000 }));
const isOfClient = (line: Buffer, client: Parameters<typeof isOf>[1]) => isOf(line, client, ids);
const hex = (id: string) => Buffer.from(id, "latin1").toString("hex");
const endpoint = (address: string) => ({
  kind: "endpoint_id" as const,
  clientId: hex(ids.endpoint(address)),
});
const origin = (address: string, agent: string) => ({
  kind: "origin_id" as const,
  clientId: hex(ids.origin(address, agent)),
});
const AGENT = "docker/27.3.1";

test.each([
  ["a line", '{"$remote_address": "203.0.113.7", "$time": "soon"}', "203.0.113.7"],
  ["a line of IPv6, however it is spelled", '{"$remote_address": "2001:DB8:0::7"}', "2001:db8::7"],
  ["a text that is no JSON", "203.0.113.7 - - [x] GET /", "203.0.113.7"],
  ["a line that has it elsewhere", '{"note": "from 203.0.113.7, say"}', "203.0.113.7"],
])("%s is of everything at its address", (_, line, address) => {
  expect(isOfClient(Buffer.from(line), endpoint(address))).toBe(true);
  expect(isOfClient(Buffer.from(line), endpoint("203.0.113.8"))).toBe(false);
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

test("a line without an address is nobody's", () => {
  for (const line of ["", "{}", "[1]", '{"$remote_address": 7}', "1.2.3", "::::"]) {
    expect(isOfClient(Buffer.from(line), endpoint("203.0.113.7"))).toBe(false);
    expect(isOfClient(Buffer.from(line), origin("203.0.113.7", ""))).toBe(false);
  }
});
