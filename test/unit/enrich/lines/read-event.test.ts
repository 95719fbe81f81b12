import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LineFault } from "../../../../enrich/lines/line-fault.js";
import { fieldsOf, type LineObject } from "../../../../enrich/lines/decode-line.js";
import { readEvent } from "../../../../enrich/lines/read-event.js";
import { endpointId } from "../../../../enrich/lookups/open-ids.js";
import type { Artifact } from "../../../../schemas/records/artifact.js";
import type { EnrichedEvent } from "../../../../schemas/records/enriched-event.js";
import { dockerPackage, eventOf, ids, RECEIVED_AT } from "./chunk-of.js";

const receipt = { line: 7, receivedAt: RECEIVED_AT };
const $time = RECEIVED_AT;

const readAt = (line: LineObject, times: { oldestTime?: number } = {}, artifact: Artifact = dockerPackage) =>
  readEvent({ fields: fieldsOf(line), target: { kind: "package", id: artifact.id } }, artifact, {
    ...receipt,
    ...times,
  });

const read = (line: object, artifact?: Artifact) => readAt({ $time, ...line }, {}, artifact);

/** The event of a line that becomes one. */
function eventFrom(line: object, artifact: Artifact = dockerPackage): EnrichedEvent {
  return (read(line, artifact) as { event: EnrichedEvent }).event;
}

const warningsOf = (line: object) => (read(line) as { warnings: LineFault[] }).warnings;
const faultOf = (line: object) => (read(line) as { fault: LineFault }).fault;
const header = (name: string, value: unknown) => ({ $headers: [{ name, value }] });

describe("readEvent", () => {
  test("reads a line with its time alone", () => {
    expect(read({})).toEqual({ event: eventOf({ line: 7 }), warnings: [] });
  });

  test("refuses a time whose events are no longer kept, and takes the first that is", () => {
    const times = { oldestTime: Date.parse("2023-10-01") };
    const refused = readAt({ $time: "2023-09-30T23:59:59.999Z" }, times) as { fault: LineFault };
    expect(refused.fault).toMatchObject({
      class: "error",
      type: "past-retention",
      message: "$time is before 2023-10-01: events this old have expired and cannot be imported",
    });
    expect(readAt({ $time: "2023-10-01" }, times)).toHaveProperty("event");
  });

  test("reads every key", () => {
    const line = {
      $unique_id: "pull-1",
      $package: dockerPackage.id,
      $remote_address: "2001:DB8::1",
      $user_agent: "containerd/1.7",
      $referrer: "https://docs.example/",
      $version: "1.2.3",
      $type: "blob-pull",
      $domain: "get.example",
      $headers: [],
      channel: "beta",
    };
    const event = {
      line: 7,
      uniqueId: "pull-1",
      type: "blob-pull",
      version: "1.2.3",
      domain: "get.example",
      referer: "https://docs.example/",
      userAgent: "containerd/1.7",
      address: "2001:DB8::1",
      variables: ["channel", "beta"],
    };
    expect(read(line)).toEqual({ event: eventOf(event), warnings: [] });
  });

  test.each([
    ["docker", "image-pull"],
    ["npm", "package-download"],
    ["hackage", "package-download"],
    ["pypi", "package-download"],
    ["other", "file-download"],
    ["", "pixel-fetch"],
  ] as const)("calls an event of %s a %s unless the line says otherwise", (libraryType, type) => {
    const artifact = { ...dockerPackage, libraryType };
    expect(eventFrom({}, artifact).type).toBe(type);
    expect(eventFrom({ $type: "" }, artifact).type).toBe(type);
    expect(eventFrom({ $type: "own" }, artifact).type).toBe("own");
  });

  test.each([
    [undefined, "missing-time"],
    [null, "missing-time"],
    ["", "invalid-time"],
    ["yesterday", "invalid-time"],
    [-1, "invalid-time"],
    [{}, "invalid-time"],
    [$time + 86_400_001, "invalid-time"],
  ])("refuses the time %j as %s", (time, type) => {
    expect(faultOf({ $time: time })).toMatchObject({ class: "error", type });
  });

  test.each([
    ["DE", "DE", 0],
    ["us", "US", 0],
    [undefined, "", 0],
    [null, "", 0],
    ["", "", 0],
    ["DEU", "", 1],
    ["D1", "", 1],
    ["ZZ", "", 1],
    ["QQ", "", 1],
    ["EU", "", 1],
    ["ıt", "", 1],
    ["sg", "SG", 0],
    ["XK", "XK", 0],
    ["Ü", "", 1],
    [49, "", 1],
    [["DE"], "", 1],
  ])("has the country %j as %j, with %i warnings", (country, wanted, count) => {
    expect(eventFrom({ $country: country }).country).toBe(wanted);
    expect(warningsOf({ $country: country }).map(({ type }) => type)).toEqual(
      Array.from({ length: count }, () => "unknown-country"),
    );
  });

  test("shows the start of a wrong time, in whole characters", () => {
    expect(faultOf({ $time: "😀".repeat(40) }).message).toContain(`: ${"😀".repeat(15)}…`);
  });

  test.each([
    ["text", "text"],
    ["x".repeat(256), "x".repeat(256)],
    ["line\nend", "line\nend"],
    [0, "0"],
    [-7, "-7"],
    [Number.MAX_SAFE_INTEGER, "9007199254740991"],
    [undefined, ""],
    [null, ""],
  ])("takes the unique id %j", (value, uniqueId) => {
    expect(eventFrom({ $unique_id: value }).uniqueId).toBe(uniqueId);
  });

  test.each([["x".repeat(257)], ["é".repeat(129)], [""], [1.5], [1e300], [true], [[]], [{}]])(
    "refuses the unique id %j",
    (value) => {
      expect(faultOf({ $unique_id: value })).toMatchObject({ class: "error", type: "invalid-value" });
    },
  );

  test.each(["$user_agent", "$referrer", "$referer", "$version", "$type", "$domain"])(
    "refuses a %s that is no text",
    (key) => {
      const faults = [7, true, [], {}].map((value) => faultOf({ [key]: value }));
      expect(faults.map(({ message }) => message)).toEqual(Array(4).fill(`${key} must be a string`));
      expect(eventFrom({ [key]: null })).toEqual(eventFrom({}));
    },
  );

  test.each(["$version", "$type", "$domain"])("refuses a %s over 256 bytes", (key) => {
    expect(faultOf({ [key]: "é".repeat(129) })).toMatchObject({ type: "invalid-value" });
    expect(read({ [key]: "é".repeat(128) })).toHaveProperty("event");
  });

  test.each([
    ["$user_agent", "userAgent"],
    ["$referrer", "referer"],
    ["$referer", "referer"],
  ] as const)("cuts a %s to 2 KiB between characters", (key, field) => {
    expect(eventFrom({ [key]: "x" + "€".repeat(1000) })[field]).toBe("x" + "€".repeat(682));
  });

  test.each([
    ["$user_agent", "userAgent"],
    ["$referrer", "referer"],
    ["$version", "version"],
    ["$type", "type"],
    ["$domain", "domain"],
  ] as const)("makes line ends and NUL in %s to spaces", (key, field) => {
    expect(eventFrom({ [key]: "a\r\nb\0c" })[field]).toBe("a  b c");
  });

  test.each([
    ["fill the gaps", header("User-Agent", "curl/8"), { userAgent: "curl/8" }],
    ["have names in any case", header("user-agent", "curl/8"), { userAgent: "curl/8" }],
    ["give the referer", header("Referer", "https://a.example"), { referer: "https://a.example" }],
    ["fill an empty text", { ...header("User-Agent", "curl/8"), $user_agent: "" }, { userAgent: "curl/8" }],
    [
      "give way to the line",
      { ...header("User-Agent", "curl/8"), $user_agent: "wget/1" },
      { userAgent: "wget/1" },
    ],
    [
      "give way to $referer",
      { ...header("Referer", "https://a"), $referer: "https://b" },
      { referer: "https://b" },
    ],
    ["are cleaned", header("User-Agent", "a\nb"), { userAgent: "a b" }],
    ["are cut", header("User-Agent", "€".repeat(1000)), { userAgent: "€".repeat(682) }],
    ["may be others", header("Accept", "*/*"), {}],
    ["may be none", { $headers: [] }, {}],
    ["may be null", { $headers: null }, {}],
  ])("lets headers %s", (_, line, event) => {
    expect(eventFrom(line)).toEqual(eventOf({ line: 7, ...event }));
  });

  test("takes the first of two headers of one name", () => {
    const $headers = ["", "first", "second"].map((value) => ({ name: "User-Agent", value }));
    expect(eventFrom({ $headers }).userAgent).toBe("first");
  });

  test.each([
    ["one object", { "User-Agent": "curl" }],
    ["a text", "User-Agent: curl"],
    ["a list of texts", ["User-Agent: curl"]],
    ["a list with null", [null]],
    ["a name that is no text", [{ name: 7, value: "x" }]],
    ["no value", [{ name: "User-Agent" }]],
    ["a value that is no text", [{ name: "User-Agent", value: null }]],
  ])("refuses headers that are %s", (_, $headers) => {
    expect(faultOf({ $headers })).toMatchObject({ class: "error", type: "invalid-value" });
  });

  test.each([
    [{ $referrer: "https://a", $referer: "https://b" }, "https://a"],
    [{ $referrer: "", $referer: "https://b" }, "https://b"],
    [{ $referer: "https://b" }, "https://b"],
  ])("takes the referrer of %j from $referrer first", (line, referer) => {
    expect(eventFrom(line).referer).toBe(referer);
  });

  test.each([["192.0.2.1"], ["::ffff:192.0.2.1"], ["::FFFF:C000:201"], ["::ffff:192.0.2.1%eth0"]])(
    "takes the address %s as one",
    (address) => {
      const event = eventFrom({ $remote_address: address });
      expect(endpointId(ids, event.address)).toBe(endpointId(ids, "192.0.2.1"));
    },
  );

  test.each([
    ["192.0.2"],
    ["192.0.2.01"],
    ["192.0.2.1:80"],
    ["[::1]"],
    [" 192.0.2.1"],
    ["host.example"],
    [3221225985],
    [{}],
    [["::1"]],
    [true],
  ])("imports an event from the address %j with a warning, without it", (address) => {
    const expected = { class: "warning", type: "invalid-remote-address" };
    expect(warningsOf({ $remote_address: address })).toEqual([expect.objectContaining(expected)]);
    expect(eventFrom({ $remote_address: address }).address).toBe("");
  });

  test.each([[undefined], [null], [""]])(
    "imports an event without an address (%j) and without a warning",
    (address) => {
      expect(read({ $remote_address: address })).toEqual(read({}));
    },
  );

  test("warns of every key it does not know, and keeps it out of the event", () => {
    const line = { $time_zone: "UTC", $: 1, $Version: "1" };
    expect(warningsOf(line).map(({ class: of, type, message }) => [of, type, message])).toEqual([
      ["warning", "unknown-property", "Unknown property $time_zone"],
      ["warning", "unknown-property", "Unknown property $"],
      ["warning", "unknown-property", "Unknown property $Version"],
    ]);
    expect(eventFrom(line)).toEqual(eventFrom({}));
  });

  const KEYS =
    "$time $unique_id $package $pixel $tracking_pixel $remote_address $user_agent $referrer $referer $version $type $domain $headers";

  test.each(KEYS.split(" "))("survives a %s that is nested deeper than the stack", (key) => {
    const deep: unknown = JSON.parse('{"a":['.repeat(100_000) + "]}".repeat(100_000));
    expect(readAt({ $time, [key]: deep, custom: deep })).toBeTypeOf("object");
  });

  test("makes any line an event or a fault that PostgreSQL can store, and never throws", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "1", "\0", "\n", "\ud800", "😀", "é") });
    const value = fc.oneof(fc.jsonValue(), text, fc.constant($time), fc.double());
    const key = fc.oneof(text, fc.constantFrom(...KEYS.split(" "), "$x", "__proto__", "constructor"));
    fc.assert(
      fc.property(fc.dictionary(key, value), (line) => {
        const decoded = JSON.parse(JSON.stringify(line)) as LineObject;
        const all = [decoded, { ...decoded, $time }].map((one) => readAt(one));
        const faults = all.flatMap((one) => ("fault" in one ? [one.fault] : one.warnings));
        expect(faults.map(({ message }) => message).join("")).not.toMatch(/[\0\n\p{Surrogate}]/u);
      }),
    );
  });
});
