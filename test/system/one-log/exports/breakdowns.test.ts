import { brotliCompressSync, constants } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { type EventMix, generateBody } from "../../../../deploy/demo/generate-events.js";
import { type AggregateV1, BREAKDOWNS, type Breakdown } from "../../../../schemas/contracts/aggregate.js";
import { LIBRARY_TYPES, type LibraryType } from "../../../../schemas/records/artifact.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { type Recount, countOverrides } from "../../../support/imports/recount.js";
import { firstDifference } from "../../../support/imports/recount-aggregates.js";
import { expectedOutcome, outcomeOf } from "../../../support/imports/import-outcome.js";
import { makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import { type RecountBodies, openRecount } from "../../../support/imports/import-world.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, joinProgram } from "../../../support/program/use-toolchain.js";

let recountBodies: RecountBodies;

joinProgram("breakdowns-ada", { organizations: ["every-kind", "single"], name: "wholeProgram" });
beforeAll(async () => void (recountBodies = await openRecount({ prepared: ["databases"] })));

const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const MIX = { seed: 20250310, from: "2025-03-10", days: 30, overrideShare: 0.2 };

function bodyOf(
  mix: Omit<EventMix, keyof typeof MIX | "packages"> & { artifacts: readonly KnownArtifact[] },
) {
  const { artifacts, ...rest } = mix;
  const pixels = artifacts.filter(({ kind }) => kind === "pixel");
  const packages = artifacts.filter(({ kind }) => kind === "package") as {
    id: string;
    libraryType: LibraryType;
  }[];
  return Buffer.concat([...generateBody({ ...MIX, ...rest, packages, pixels })]);
}

describe("10,000 events of every kind of package and a pixel, 20 % of them overrides, in two imports", () => {
  let bodies: Buffer[];
  let artifacts: KnownArtifact[];
  let expected: Recount;
  let records: EventImport[];
  let answered: AggregateV1[];

  beforeAll(async () => {
    const organization = "every-kind";
    artifacts = await Promise.all(
      LIBRARY_TYPES.map((libraryType) => makePackage(api, { organization, name: libraryType, libraryType })),
    );
    artifacts.push(await makePixel(api, { owner: organization, name: "docs" }));
    bodies = [
      bodyOf({ artifacts, count: 6_000, clients: 800 }),
      bodyOf({ artifacts, count: 4_000, clients: 800, startAt: 6_000 }),
    ];
    expected = recountBodies(
      bodies.map((bytes) => ({ bytes })),
      artifacts,
    );
    records = [];
    for (const [index, bytes] of bodies.entries()) {
      const started = await api.importBody(`/v2/${organization}/import`, bytes, { gzip: index === 0 });
      records.push(await api.pollToDone(started));
    }
    answered = await api.readAggregates(organization, RANGE);
  });

  test("override in every way that an override can", () => {
    const least = { sameDay: 200, otherDay: 200, otherAddress: 200, repeated: 60, acrossBodies: 200 };
    const counts = countOverrides(bodies, artifacts);
    const short = Object.entries(least).filter(([kind, count]) => counts[kind as keyof typeof least] < count);
    expect(short).toEqual([]);
  });

  test("are each imported or refused, with the line and reason of the first ten", () => {
    expect(records.map(outcomeOf)).toEqual(expected.imports.map(expectedOutcome));
  });

  test("equal a recount of the raw lines in every breakdown, in order of package, date, breakdown and value", () => {
    for (const name of BREAKDOWNS)
      expect(expected.aggregates.filter(({ breakdown }) => breakdown === name).length).toBeGreaterThan(25);
    expect(firstDifference(answered, expected.aggregates)).toBe("");
  });

  test.each<[Breakdown, readonly string[]]>([
    ["company", ["company_name", "company_domain"]],
    ["cloud_provider", ["cloud_provider_name", "cloud_provider_domain"]],
    ["country", ["country"]],
    ["platform", ["platform"]],
    ["version", ["version"]],
    ["client", ["client", "client_version"]],
    ["variable", ["variable", "value"]],
    ["total", ["unique_total"]],
  ])("have in a record of the breakdown %s its own fields only", (breakdown, fields) => {
    const lines = answered.filter((line) => line.breakdown === breakdown);
    const common = ["breakdown", "date", "package", "total"];
    const known = new Set([...common, ...fields]);
    expect(lines.flatMap((line) => Object.keys(line).filter((key) => !known.has(key)))).toEqual([]);
    expect(lines).toContainEqual(
      expect.objectContaining(
        Object.fromEntries([...known].map((key) => [key, expect.anything() as unknown])),
      ),
    );
    expect(lines.every(({ total }) => Number.isInteger(total) && total > 0)).toBe(true);
  });

  test("have versions of docker packages and variables of file packages only", () => {
    const typesOf = (breakdown: Breakdown) => {
      const ids = new Set(
        answered.filter((line) => line.breakdown === breakdown).map((line) => line.package),
      );
      return artifacts.filter(({ id }) => ids.has(id)).map(({ libraryType }) => libraryType);
    };
    expect(typesOf("version")).toEqual(["docker"]);
    expect(typesOf("variable")).toEqual(["other"]);
    expect(typesOf("total")).toEqual(LIBRARY_TYPES);
  });
});

describe("an import into a single package", () => {
  const count = 1_000;
  const organization = "single";

  /** With its length, as curl sends a file. */
  async function importWhole(
    path: string,
    body: Buffer,
    headers: Record<string, string>,
  ): Promise<EventImport> {
    const response = await api.request(path, { method: "POST", body, headers });
    return (await response.json()) as EventImport;
  }

  test.each<[LibraryType, string, (path: string, body: Buffer) => Promise<EventImport>]>([
    ["docker", "plain, without a length", (path, body) => api.importBody(path, [body])],
    [
      "hackage",
      "br, with its length",
      (path, body) => importWhole(path, brotliCompressSync(body, QUICKLY), { "Content-Encoding": "br" }),
    ],
  ])("(%s, sent %s) equals a recount of the raw lines", async (libraryType, _, send) => {
    const artifacts = [await makePackage(api, { organization, name: `single-${libraryType}`, libraryType })];
    const target = artifacts[0]?.id ?? "";
    const bytes = bodyOf({ artifacts, count, target: "path" });
    const expected = recountBodies([{ bytes, target }], artifacts);
    const record = await api.pollToDone(await send(`/v2/packages/${organization}/${target}/import`, bytes));
    expect(outcomeOf(record)).toEqual(expectedOutcome(expected.imports[0] ?? never()));
    const answered = await api.readAggregates(organization, RANGE);
    const ofPackage = answered.filter((line) => line.package === target);
    expect(firstDifference(ofPackage, expected.aggregates)).toBe("");
  });

  test("or a pixel counts its lines; pixels are in no aggregate", async () => {
    const artifacts = [await makePixel(api, { owner: organization, name: "docs" })];
    const target = artifacts[0]?.id ?? "";
    const bytes = bodyOf({ artifacts, count, target: "path" });
    const expected = recountBodies([{ bytes, target }], artifacts);
    const path = `/v2/pixels/${organization}/${target}/import`;
    const record = await api.pollToDone(await api.importBody(path, bytes, { gzip: true }));
    expect(outcomeOf(record)).toEqual(expectedOutcome(expected.imports[0] ?? never()));
    const answered = await api.readAggregates(organization, RANGE);
    expect(answered.filter((line) => line.package === target)).toEqual([]);
  });
});

function never(): never {
  throw new Error("the recount has no import");
}
