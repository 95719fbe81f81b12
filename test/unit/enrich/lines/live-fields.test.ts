import { describe, expect, test } from "vitest";
import { decodeLine } from "../../../../enrich/lines/decode-line.js";
import { readEvent } from "../../../../enrich/lines/read-event.js";
import type { EnrichedEvent } from "../../../../schemas/records/enriched-event.js";
import { dockerPackage, RECEIVED_AT } from "./chunk-of.js";

const LINE = { $time: RECEIVED_AT, $package: dockerPackage.id };

/** The event of a line that live collection wrote. */
function eventOf(line: object, oldestTime = 0): EnrichedEvent {
  const bytes = Buffer.from(JSON.stringify({ ...LINE, ...line }));
  const decoded = decodeLine({ bytes, line: 1 }, { artifactKind: "any", artifactId: "" });
  if ("fault" in decoded) throw new Error(decoded.fault.message);
  const receipt = { line: 1, receivedAt: RECEIVED_AT, oldestTime, live: true };
  const read = readEvent(decoded, dockerPackage, receipt);
  if ("fault" in read) throw new Error(read.fault.message);
  return read.event;
}

const variablesOf = (...sent: unknown[]) => eventOf({ $sent: sent }).variables;

describe("what a client sent", () => {
  const TWO = { b: 2, c: 2 };
  test.each([
    ["flattened", [{ a: { b: 1 }, c: [1], d: null, e: "" }], ["a.b", "1", "c", "[1]", "d", "null", "e", ""]],
    ["of several objects, the first of a name", [{ a: 1, b: 1 }, TWO], ["a", "1", "b", "1", "c", "2"]],
    ["with $ keys that no line has", [{ $lib: "x", $set: { $os: "y" } }], ["$lib", "x", "$set.$os", "y"]],
    [
      "without those that name an event or an artifact",
      [{ $unique_id: "u", $package: "p", $pixel: "q", $tracking_pixel: "r", a: 1 }],
      ["a", "1"],
    ],
    [
      "with $ keys whose values no line may have",
      [{ $time: "soon", $remote_address: "here", $headers: 1, $version: 2, $user_agent: null }],
      ["$time", "soon", "$remote_address", "here", "$headers", "1", "$version", "2", "$user_agent", "null"],
    ],
    ["where it is an object", [1, null, [], "a"], []],
  ])("is variables, %s", (_, sent, variables) => {
    expect(variablesOf(...sent)).toEqual(variables);
  });

  test("comes after the variables of the path", () => {
    const { variables } = eventOf({ channel: "beta", $sent: [{ channel: "x", a: 1 }] });
    expect(variables).toEqual(["channel", "beta", "a", "1"]);
  });

  test("takes the place of what the collector knew", () => {
    const collected = {
      $remote_address: "192.0.2.1",
      $user_agent: "curl/8",
      $referrer: "a",
      $domain: "get.example",
    };
    const sent = {
      $time: "2020-01-02T03:04:05Z",
      $remote_address: "2001:DB8::1",
      $user_agent: "app/1",
      $referer: "b",
      $domain: "d",
      $version: "1",
      $type: "start",
      $unique_id: "u",
      $package: "p",
      $pixel: "q",
    };
    expect(eventOf({ ...collected, $sent: [sent] })).toMatchObject({
      time: Date.parse("2020-01-02T03:04:05Z"),
      address: "2001:DB8::1",
      userAgent: "app/1",
      referer: "b",
      domain: "d",
      version: "1",
      type: "start",
      uniqueId: "",
      artifact: dockerPackage,
      variables: [],
    });
  });

  test.each([
    ["of the path", { version: "1.2", platform: "riscos" }, "1.2", "riscos"],
    ["of an object", { $sent: [{ version: 1.5, platform: "riscos" }] }, "1.5", "riscos"],
    ["that the collector set", { $version: "3", $platform: "x", version: "1", platform: "y" }, "3", "x"],
    ["that is longer than a field", { version: "é".repeat(129) }, "", undefined],
  ])("has a version and a platform (%s)", (_, line, version, platform) => {
    const event = eventOf(line);
    expect([event.version, event.reported?.platform]).toEqual([version, platform]);
  });

  test("holds 64 variables of 1 KiB, as an import line does", () => {
    const many = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`v${n}`, n]));
    expect(variablesOf({ long: "x".repeat(1025), ...many })).toHaveLength(128);
  });
});

test("an import's $sent and $platform are unknown keys", () => {
  const bytes = Buffer.from(JSON.stringify({ ...LINE, $sent: [{ a: 1 }], $platform: "x" }));
  const decoded = decodeLine({ bytes, line: 1 }, { artifactKind: "any", artifactId: "" });
  if ("fault" in decoded) throw new Error(decoded.fault.message);
  const read = readEvent(decoded, dockerPackage, { line: 1, receivedAt: RECEIVED_AT });
  expect(read).toMatchObject({
    event: { variables: [] },
    warnings: [{ type: "unknown-property" }, { type: "unknown-property" }],
  });
});

test("a time whose events are no longer kept costs no event: it is a variable", () => {
  const sent = { $sent: [{ $time: "2020-01-01" }] };
  expect(eventOf(sent).time).toBe(Date.parse("2020-01-01"));
  const kept = eventOf(sent, RECEIVED_AT - 1_000);
  expect(kept.time).toBe(RECEIVED_AT);
  expect(kept.variables).toEqual(["$time", "2020-01-01"]);
});
