import { beforeAll, describe, expect, test } from "vitest";
import { type EventMix, generateBody, generateLines } from "../../../../deploy/demo/generate-events.js";
import { DAY_MS } from "../../../../schemas/date-range.js";
import { DEMO_NETWORKS } from "../../../../deploy/demo/client-pool.js";
import {
  UNKNOWN_CLIENT,
  UNKNOWN_NETWORK,
  UNKNOWN_PLACE,
} from "../../../../schemas/records/enriched-event.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { recount } from "../../../support/imports/recount.js";
import { findAsnOwner, readAsnOwner } from "../../../../enrich/lookups/networks/asn-table.js";
import { addressOf } from "../../../../enrich/lookups/parse-address.js";
import { readBundledTable } from "../../../support/networks/bundled-networks.js";

const packages = [
  { id: "11111111-1111-4111-8111-111111111111", libraryType: "docker" as const },
  { id: "22222222-2222-4222-8222-222222222222", libraryType: "pypi" as const },
  { id: "33333333-3333-4333-8333-333333333333", libraryType: "other" as const },
];
const pixels = [{ id: "44444444-4444-4444-8444-444444444444" }];
const mix: EventMix = { seed: 7, count: 20_000, packages, pixels, from: "2025-06-01", days: 30 };

const artifacts: KnownArtifact[] = [
  ...packages.map((entry) => ({ kind: "package" as const, ...entry })),
  ...pixels.map((entry) => ({ kind: "pixel" as const, libraryType: "" as const, ...entry })),
];
const lookups = {
  clients: { of: () => UNKNOWN_CLIENT },
  places: { of: () => UNKNOWN_PLACE },
  networks: { of: () => UNKNOWN_NETWORK },
};

/** The mix by itself, counted once for all tests. */
let counted: ReturnType<typeof recountOf>;
beforeAll(() => {
  counted = recountOf(mix);
});

function recountOf(...mixes: EventMix[]) {
  const bodies = mixes.map((each) => ({ bytes: Buffer.concat([...generateBody(each)]) }));
  return recount(bodies, { artifacts, lookups, receivedAt: Date.parse("2025-07-15") });
}

describe("generated events", () => {
  test("are the same for the same seed and differ for another", () => {
    const small = { ...mix, count: 300 };
    expect([...generateLines(small)]).toEqual([...generateLines(small)]);
    expect([...generateLines({ ...small, seed: 8 })]).not.toEqual([...generateLines(small)]);
  });

  test("form a body of blocks with exactly their lines", () => {
    const text = Buffer.concat([...generateBody(mix)]).toString();
    expect(text.split(/\r?\n/)).toEqual([...generateLines(mix), ""]);
  });

  test("have the requested number without blank lines, within their days", () => {
    const { imports, live } = counted;
    const [first, last] = [Date.parse("2025-06-01"), Date.parse("2025-07-01")];
    expect(imports[0]?.total).toBe(20_000);
    expect(live.filter(({ time }) => time < first || time >= last)).toEqual([]);
  });

  test("are broken in 2 of 100 lines, in every way that a line can be", () => {
    const entries = counted.imports.flatMap((each) => each.entries);
    expect(entries.length / 20_000).toBeCloseTo(0.02, 2);
    expect(new Set(entries.map((entry) => `${entry.class} ${entry.type}`))).toEqual(
      new Set([
        "error failed-to-decode",
        "error missing-time",
        "error invalid-time",
        "error artifact-not-found",
        "error missing-artifact",
        "error invalid-value",
        "warning invalid-remote-address",
        "warning unknown-property",
      ]),
    );
  });

  test("override earlier events in 10 of 100 lines", () => {
    const { imports, live } = counted;
    const replaced = (imports[0]?.successful ?? 0) - live.length;
    expect(replaced / 20_000).toBeCloseTo(0.1, 1);
  });

  test("override events of an earlier import when they continue its numbers", () => {
    const next = { ...mix, startAt: 20_000, count: 5000 };
    expect(recountOf(mix, next).live.length).toBeLessThan(counted.live.length + recountOf(next).live.length);
  });

  test("change the day, the hour, the client or everything when they override", () => {
    const single: EventMix = {
      ...mix,
      brokenShare: 0,
      packages: packages.slice(0, 1),
      pixels: [],
      target: "line",
    };
    const originals = recountOf({ ...single, overrideShare: 0 }).live;
    const byKey = new Map(originals.map((event) => [event.key, event]));
    const changes = recountOf({ ...single, overrideShare: 0.5 }).live.map((event) => {
      const before = byKey.get(event.key) ?? event;
      const sameDay = Math.floor(before.time / DAY_MS) === Math.floor(event.time / DAY_MS);
      return `${sameDay ? "same" : "other"} day, ${before.address === event.address ? "same" : "other"} client`;
    });
    const shareOf = (kind: string) => changes.filter((change) => change === kind).length / changes.length;
    const kinds = ["same day, other client", "other day, same client", "other day, other client"];
    expect(kinds.map(shareOf).filter((share) => share < 0.03)).toEqual([]);
  });

  test("name no artifact, or the right one, when the path names it", () => {
    const single: EventMix = {
      ...mix,
      packages: packages.slice(0, 1),
      pixels: [],
      brokenShare: 0,
      count: 2000,
    };
    const named = [...generateLines(single)].filter((line) => line.includes("$package"));
    expect(named.length).toBeGreaterThan(20);
    expect(named.length).toBeLessThan(400);
  });

  test.each([
    ["no artifact", { ...mix, packages: [], pixels: [] }, /need a package or a pixel/],
    ["two artifacts in a path", { ...mix, target: "path" as const }, /one artifact only/],
    ["a date that is none", { ...mix, from: "June" }, /"June" is not a date/],
    ["no day", { ...mix, days: 0 }, /at least one whole day/],
  ])("are refused for %s", (_, wrong, message) => {
    expect(() => [...generateLines(wrong)]).toThrow(message);
  });
});

describe("networks of generated clients", () => {
  const table = readBundledTable();

  test.each(DEMO_NETWORKS)("AS$asn is announced by $holder", ({ asn, holder, v4, v6 }) => {
    const ends = [
      ...v4.flatMap((block) => [`${block}.0.0`, `${block}.255.255`]),
      ...(v6 === undefined ? [] : [`${v6}::`, `${v6}:ffff:ffff:ffff:ffff:ffff`]),
    ];
    const owners = ends.map((address) => readAsnOwner(table, findAsnOwner(table, addressOf(address))));
    expect(owners).toEqual(ends.map(() => ({ asn, organization: holder })));
  });
});
