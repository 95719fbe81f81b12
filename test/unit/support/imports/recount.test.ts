import { describe, expect, test } from "vitest";
import type { AggregateV1 } from "../../../../schemas/contracts/aggregate.js";
import {
  type Lookups,
  UNKNOWN_CLIENT,
  UNKNOWN_NETWORK,
  UNKNOWN_PLACE,
} from "../../../../schemas/records/enriched-event.js";
import { firstDifference } from "../../../support/imports/recount-aggregates.js";
import { recount } from "../../../support/imports/recount.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";

const DOCKER = "11111111-1111-4111-8111-111111111111";
const FILE = "22222222-2222-4222-8222-222222222222";
const PIXEL = "33333333-3333-4333-8333-333333333333";

const artifacts: KnownArtifact[] = [
  { kind: "package", id: DOCKER, libraryType: "docker" },
  { kind: "package", id: FILE, libraryType: "other" },
  { kind: "pixel", id: PIXEL, libraryType: "" },
];

const clients = new Map([
  ["curl/8.5.0", { ...UNKNOWN_CLIENT, client: "curl", clientVersion: "8.5.0", platform: "linux" }],
  ["Go-http-client", { ...UNKNOWN_CLIENT, client: "go" }],
]);
const countries = new Map([
  ["192.0.2.1", "DE"],
  ["192.0.2.2", "FR"],
  ["2001:db8::1", "JP"],
]);
const networks = new Map([
  ["192.0.2.1", { ...UNKNOWN_NETWORK, company: "Acme", companyDomain: "acme.example" }],
  [
    "192.0.2.2",
    { ...UNKNOWN_NETWORK, company: "Umbrella", cloudProvider: "Cumulus", cloudProviderDomain: "c.example" },
  ],
]);
const lookups: Pick<Lookups, "clients" | "places" | "networks"> = {
  clients: { of: (userAgent) => clients.get(userAgent) ?? UNKNOWN_CLIENT },
  places: { of: (address) => ({ ...UNKNOWN_PLACE, country: countries.get(address) ?? "" }) },
  networks: { of: (address) => networks.get(address) ?? UNKNOWN_NETWORK },
};
const receivedAt = Date.parse("2025-06-30T12:00:00Z");

function count(...texts: string[]) {
  const bodies = texts.map((text) => ({ bytes: Buffer.from(text) }));
  return recount(bodies, { artifacts, lookups, receivedAt });
}

function lines(...objects: object[]): string {
  return objects.map((object) => JSON.stringify(object)).join("\n");
}

const pull = { $package: DOCKER, $time: "2025-06-01T10:00:00Z" };

describe("aggregates", () => {
  test("hold one record for every breakdown whose value is known, in order", () => {
    const event = {
      ...pull,
      $remote_address: "192.0.2.1",
      $user_agent: "curl/8.5.0",
      $version: "1.2",
      note: "x",
    };
    const scope = { package: DOCKER, date: "2025-06-01" };
    expect(count(lines(event)).aggregates).toEqual([
      { ...scope, breakdown: "client", client: "curl", client_version: "8.5.0", total: 1 },
      { ...scope, breakdown: "company", company_name: "Acme", company_domain: "acme.example", total: 1 },
      { ...scope, breakdown: "country", country: "DE", total: 1 },
      { ...scope, breakdown: "platform", platform: "linux", total: 1 },
      { ...scope, breakdown: "total", total: 1, unique_total: 1 },
      { ...scope, breakdown: "version", version: "1.2", total: 1 },
    ]);
  });

  test("leave out the domain and the version that are not known", () => {
    const event = { ...pull, $remote_address: "192.0.2.2", $user_agent: "Go-http-client" };
    const scope = { package: DOCKER, date: "2025-06-01" };
    expect(count(lines(event)).aggregates.slice(0, 3)).toEqual([
      { ...scope, breakdown: "client", client: "go", total: 1 },
      {
        ...scope,
        breakdown: "cloud_provider",
        cloud_provider_name: "Cumulus",
        cloud_provider_domain: "c.example",
        total: 1,
      },
      { ...scope, breakdown: "company", company_name: "Umbrella", total: 1 },
    ]);
  });

  test("count variables of file packages only, flattened, and no version", () => {
    const event = {
      $package: FILE,
      $time: 1748772000,
      $version: "1",
      os: "linux",
      a: { b: 1, c: [1, "x"] },
      n: null,
    };
    expect(
      count(lines(event)).aggregates.map(({ breakdown, variable, value }) => [breakdown, variable, value]),
    ).toEqual([
      ["total", undefined, undefined],
      ["variable", "a.b", "1"],
      ["variable", "a.c", '[1,"x"]'],
      ["variable", "n", "null"],
      ["variable", "os", "linux"],
    ]);
  });

  test("count an address once a day however it is written, and events without one not at all", () => {
    const addresses = [
      "2001:db8::1",
      "2001:0DB8:0:0:0:0:0:1",
      "192.0.2.1",
      "::ffff:192.0.2.1",
      "nonsense",
      null,
    ];
    const { aggregates } = count(
      lines(...addresses.map(($remote_address) => ({ ...pull, $remote_address }))),
    );
    expect(aggregates.at(-1)).toMatchObject({ breakdown: "total", total: 6, unique_total: 2 });
  });

  test("leave pixel events out", () => {
    const { aggregates, live } = count(lines({ $pixel: PIXEL, $time: "2025-06-01" }));
    expect([aggregates, live.length]).toEqual([[], 1]);
  });
});

describe("an override", () => {
  const totals = (...texts: string[]) =>
    count(...texts)
      .aggregates.filter(({ breakdown }) => breakdown === "total")
      .map(({ package: id, date, total }) => [id, date, total]);

  test("moves the event to the later line's day, also across bodies", () => {
    const first = lines({ ...pull, $unique_id: "a" }, { ...pull, $unique_id: "b" });
    const second = lines({ ...pull, $unique_id: "a", $time: "2025-06-02" });
    expect(totals(first, second)).toEqual([
      [DOCKER, "2025-06-01", 1],
      [DOCKER, "2025-06-02", 1],
    ]);
  });

  test("stays within its artifact, and takes 7 and '7' for the same id", () => {
    const other = { ...pull, $package: FILE, $unique_id: "7" };
    expect(totals(lines({ ...pull, $unique_id: 7 }, { ...pull, $unique_id: "7" }, other))).toEqual([
      [DOCKER, "2025-06-01", 1],
      [FILE, "2025-06-01", 1],
    ]);
  });

  test("is none when its line is refused", () => {
    expect(totals(lines({ ...pull, $unique_id: "a" }, { $package: DOCKER, $unique_id: "a" }))).toEqual([
      [DOCKER, "2025-06-01", 1],
    ]);
  });
});

describe("a line", () => {
  const findings = (line: string) =>
    count(line).imports.flatMap(({ entries }) => entries.map((entry) => `${entry.class} ${entry.type}`));

  test.each([
    ["[1]", "error failed-to-decode"],
    ["null", "error failed-to-decode"],
    ['{"$time":1', "error failed-to-decode"],
    [lines({ $time: 1600000001 }), "error missing-artifact"],
    [lines({ $package: PIXEL, $time: 1600000001 }), "error artifact-not-found"],
    [lines({ $package: 5 }), "error artifact-not-found"],
    [lines({ $package: DOCKER, $version: 1 }), "error missing-time"],
    [lines({ ...pull, $time: "2025-02-30", $version: 1 }), "error invalid-time"],
    [lines({ ...pull, $time: "2025-07-01T12:00:00.001Z" }), "error invalid-time"],
    [lines({ ...pull, $time: -1 }), "error invalid-time"],
    [lines({ ...pull, $user_agent: 1 }), "error invalid-value"],
    [lines({ ...pull, $unique_id: "ü".repeat(129) }), "error invalid-value"],
    [lines({ ...pull, $headers: [{ name: "a", value: 1 }] }), "error invalid-value"],
    [lines({ ...pull, $headers: [null] }), "error invalid-value"],
    [lines({ ...pull, pad: "x".repeat(1_048_576) }), "error line-too-long"],
    [lines({ ...pull, $remote_address: 7 }), "warning invalid-remote-address"],
    [lines({ ...pull, $colour: 7 }), "warning unknown-property"],
    [lines({ ...pull, long: "x".repeat(1025) }), "warning invalid-value"],
    [
      lines({ ...pull, ...Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`v${i}`, i])) }),
      "warning invalid-value",
    ],
  ])("%.60s is logged as %s", (line, finding) => {
    expect(findings(line)).toEqual([finding]);
  });

  test.each([
    ["2025-06-01", "2025-06-01T00:00:00.000Z"],
    ["2025-06-01T23:30:00-01:00", "2025-06-02T00:30:00.000Z"],
    ["2025-06-01 10:11", "2025-06-01T10:11:00.000Z"],
    ["2025-06-01T10:11:12.3456", "2025-06-01T10:11:12.345Z"],
    [1748772000, "2025-06-01T10:00:00.000Z"],
    [1748772000.25, "2025-06-01T10:00:00.250Z"],
    [1748772000123, "2025-06-01T10:00:00.123Z"],
    ["1748772000123", "2025-06-01T10:00:00.123Z"],
    [99_999_999_999, undefined],
    [631_152_000_000, "1990-01-01T00:00:00.000Z"],
    ["20250601", "2025-06-01T00:00:00.000Z"],
  ])("with the time %s happens at %s", ($time, expected) => {
    const times = count(lines({ ...pull, $time })).live.map(({ time }) => new Date(time).toISOString());
    expect(times[0]).toBe(expected);
  });

  test("has the number that counts blank lines, which are no events", () => {
    const text = `\r\n \t\n${lines(pull)}\r\nbroken\n\n`;
    expect(count(text).imports).toEqual([
      {
        total: 2,
        successful: 1,
        failed: 1,
        entries: [{ line: 4, class: "error", type: "failed-to-decode" }],
      },
    ]);
  });

  test("takes user agent from its headers only where it names none", () => {
    const $headers = [{ name: "USER-AGENT", value: "curl/8.5.0" }];
    const agents = count(lines({ ...pull, $headers }, { ...pull, $headers, $user_agent: "x" })).live;
    expect(agents.map(({ userAgent }) => userAgent)).toEqual(["curl/8.5.0", "x"]);
  });

  test("must agree with the artifact that the path names", () => {
    const bytes = Buffer.from(lines({ ...pull }, { ...pull, $package: FILE }, { $time: 1600000001 }));
    const { imports } = recount([{ bytes, target: DOCKER }], { artifacts, lookups, receivedAt });
    expect(imports[0]).toMatchObject({ successful: 2, entries: [{ line: 2, type: "artifact-not-found" }] });
  });
});

describe("the comparison", () => {
  const total: AggregateV1 = {
    package: DOCKER,
    date: "2025-06-01",
    breakdown: "total",
    total: 2,
    unique_total: 1,
  };
  const country: AggregateV1 = {
    package: DOCKER,
    date: "2025-06-01",
    breakdown: "country",
    country: "DE",
    total: 2,
  };

  test.each([
    ["nothing when all is equal", [country, { ...total }], ""],
    ["what is missing", [total], /^1 of 2 aggregates differ; first, missing: .*"DE"/],
    [
      "a wrong count",
      [country, { ...total, unique_total: 2 }],
      /answered .*"unique_total":2.*expected .*"unique_total":1/,
    ],
    ["what is too much", [country, { ...country, country: "FR" }, total], /not expected: .*"FR"/],
    ["a record answered twice", [country, country, total], /more than once/],
    ["a wrong order", [total, country], /wrong order at record 1/],
  ])("tells %s", (_, answered, message) => {
    expect(firstDifference(answered, [country, total])).toMatch(message === "" ? /^$/ : message);
  });
});
