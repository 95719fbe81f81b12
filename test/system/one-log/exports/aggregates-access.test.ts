import { createGunzip } from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import { parquetReadObjects } from "hyparquet";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { generateBody } from "../../../../deploy/demo/generate-events.js";
import { type AggregateV1, EXPORT_FORMATS, MEDIA_TYPES } from "../../../../schemas/contracts/aggregate.js";
import { firstDifference } from "../../../support/imports/recount-aggregates.js";
import { makeOrganization, makePackage } from "../../../support/imports/make-artifacts.js";
import { joinOrganization, openAnswer, setLevel, textOf } from "../../../support/api/management-world.js";
import { type RecountBodies, openRecount } from "../../../support/imports/import-world.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { type Program, sharedProgram } from "../../../support/program/program.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const QUERY = `startDate=${RANGE.startDate}&endDate=${RANGE.endDate}`;
const GRANTED = `/v1/organizations/acme/aggregates?${QUERY}`;
const NAMES = ["owner", "admin", "member", "stranger"] as const;

let toolchain: Program;
let recountBodies: RecountBodies;
let pool: pg.Pool;
let as: Record<(typeof NAMES)[number], ApiClient>;
let artifacts: KnownArtifact[];
let expected: AggregateV1[];

beforeAll(async () => {
  [toolchain, recountBodies] = await Promise.all([sharedProgram(), openRecount()]);
  pool = new pg.Pool({ connectionString: toolchain.endpoints.postgres, max: 2 });
  const accounts = NAMES.map(async (name) => [name, await toolchain.newAccount(name)] as const);
  as = Object.fromEntries(await Promise.all(accounts)) as typeof as;
  for (const organization of ["acme", "ungranted"]) {
    await makeOrganization(as.owner, organization);
    await joinOrganization(pool, { organization, username: "admin", role: "admin" });
    await joinOrganization(pool, { organization, username: "member", role: "member" });
  }
  await toolchain.admin("grant-export", "acme");
  artifacts = [
    await makePackage(as.owner, { organization: "acme", name: "image", libraryType: "docker" }),
    await makePackage(as.owner, { organization: "acme", name: "files", libraryType: "other" }),
  ];
  const packages = artifacts.map(({ id }, index) => ({
    id,
    libraryType: index === 0 ? ("docker" as const) : ("other" as const),
  }));
  const bytes = Buffer.concat([
    ...generateBody({ seed: 5, count: 1_000, packages, from: "2025-03-10", days: 5 }),
  ]);
  await as.owner.pollToDone(await as.owner.importBody("/v2/acme/import", bytes));
  expected = recountBodies([{ bytes }], artifacts).aggregates;
});

afterAll(() => pool?.end());

async function ask(api: ApiClient, path: string, headers = {}): Promise<{ status: number; body: unknown }> {
  const response = await api.request(path, { headers });
  const text = await response.text();
  const isLines = response.headers.get("content-type")?.includes("ndjson") ?? false;
  return { status: response.status, body: isLines ? parseLines(text) : JSON.parse(text) };
}

function parseLines(text: string): AggregateV1[] {
  expect(text).toMatch(/^$|\n$/);
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as AggregateV1);
}

describe("the aggregates of an organization", () => {
  test.each(["owner", "admin"] as const)("are given to its %s", async (who) => {
    expect(firstDifference(await as[who].readAggregates("acme", RANGE), expected)).toBe("");
  });

  // The suite of authorisation asks every route as every kind of caller, where export is granted.
  test.each([
    ["its owner without the right to export", "owner", "ungranted", 403, "export-not-granted"],
    ["its admin without the right to export", "admin", "ungranted", 403, "export-not-granted"],
    ["a stranger, granted or not", "stranger", "ungranted", 404, "not-found"],
    ["anybody under the name of a user", "owner", "owner", 404, "not-found"],
  ] as const)("are not given to %s", async (_, who, organization, status, code) => {
    const path = GRANTED.replace("acme", organization);
    expect(await ask(as[who], path)).toMatchObject({ status, body: { code } });
  });

  test("end with the right to export", async () => {
    await toolchain.admin("revoke-export", "acme");
    const revoked = await ask(as.owner, GRANTED);
    await toolchain.admin("grant-export", "acme");
    expect(revoked).toMatchObject({ status: 403, body: { code: "export-not-granted" } });
    expect(JSON.stringify(revoked.body)).toContain("maintainer-toolchain admin grant-export acme");
    expect((await ask(as.owner, GRANTED)).status).toBe(200);
  });

  test("leave out packages that the caller is blocked from", async () => {
    const [image, files] = artifacts.map(({ id }) => id);
    await setLevel(pool, { packageId: image ?? "", username: "admin", level: "blocked" });
    const answer = await ask(as.admin, GRANTED);
    const narrowed = await ask(as.admin, `${GRANTED}&package=${image}`);
    await pool.query("delete from package_permissions");
    expect(new Set((answer.body as AggregateV1[]).map((line) => line.package))).toEqual(new Set([files]));
    expect(narrowed).toMatchObject({ status: 404, body: { code: "not-found" } });
  });
});

describe("the aggregates of a user", () => {
  const path = `/v1/users/member/aggregates?${QUERY}`;

  test("count the user's own packages, for that user", async () => {
    const made = await as.member.post<{ uuid: string }>("/v1/packages", {
      name: "own",
      shortDescription: "",
    });
    const packages = [{ id: made.uuid, libraryType: "other" as const }];
    const bytes = Buffer.concat([
      ...generateBody({ seed: 6, count: 300, packages, from: "2025-03-10", days: 3 }),
    ]);
    const started = await as.member.importBody(`/v2/packages/member/${made.uuid}/import`, bytes);
    await as.member.pollToDone(started);
    const own: KnownArtifact[] = [{ kind: "package", id: made.uuid, libraryType: "other" }];
    const { aggregates } = recountBodies([{ bytes, target: made.uuid }], own);
    const answer = await ask(as.member, path);
    expect(answer.status).toBe(200);
    expect(firstDifference(answer.body as AggregateV1[], aggregates)).toBe("");
  });

  test("need the right to export", async () => {
    await toolchain.admin("revoke-export", "member");
    expect(await ask(as.member, path)).toMatchObject({ status: 403, body: { code: "export-not-granted" } });
  });
});

describe("a range", () => {
  test.each([
    ["startDate=2025-03-10&endDate=2026-03-12", 422, "range-too-long"],
    [`${QUERY}&breakdown=country,,total`, 400, "invalid-query"],
    [`${QUERY}&package=image&package=files`, 400, "invalid-query"],
    [`${QUERY}&package=image&packageType=npm`, 404, "not-found"],
    [`${QUERY}&fields=names`, 400, "invalid-query"],
  ])("or filter ?%s is refused", async (query, status, code) => {
    const answer = await ask(as.owner, `/v1/organizations/acme/aggregates?${query}`);
    expect(answer).toMatchObject({ status, body: { code } });
  });

  test("has 366 days at the most, and a package without events has no line in it", async () => {
    const query = "startDate=2023-12-31&endDate=2024-12-31";
    expect(await ask(as.owner, `/v1/organizations/acme/aggregates?${query}`)).toEqual({
      status: 200,
      body: [],
    });
  });

  test("has its first day in it and not its last", async () => {
    const range = { startDate: "2025-03-11", endDate: "2025-03-13" };
    const days = expected.filter(({ date }) => date === "2025-03-11" || date === "2025-03-12");
    expect(days.length).toBeGreaterThan(20);
    expect(firstDifference(await as.owner.readAggregates("acme", range), days)).toBe("");
  });

  test.each([["country"], ["total,variable"], ["version,total,company,client,platform,cloud_provider"]])(
    "is narrowed to breakdown=%s",
    async (breakdown) => {
      const wanted = breakdown.split(",");
      const lines = expected.filter((line) => wanted.includes(line.breakdown));
      const { body } = await ask(as.owner, `${GRANTED}&breakdown=${breakdown}`);
      expect(firstDifference(body as AggregateV1[], lines)).toBe("");
    },
  );

  test("is narrowed to one package by its name, and says where names are if there is none", async () => {
    const byId = await ask(as.owner, `${GRANTED}&package=${artifacts[1]?.id}`);
    expect(await ask(as.owner, `${GRANTED}&package=files`)).toEqual(byId);
    const { body } = await ask(as.owner, `${GRANTED}&package=file`);
    expect(JSON.stringify(body)).toMatch(/package file does not exist.* GET \/v1\/packages/);
  });

  test("is narrowed to one package, whatever the case of its id", async () => {
    const [{ id } = { id: "" }] = artifacts;
    const lines = expected.filter((line) => line.package === id && line.breakdown === "total");
    const { body } = await ask(as.owner, `${GRANTED}&package=${id.toUpperCase()}&breakdown=total`);
    expect(firstDifference(body as AggregateV1[], lines)).toBe("");
  });
});

describe("a file", () => {
  const fileOf = (ending: string) => GRANTED.replace("aggregates?", `aggregates.${ending}?`);
  const read = async (path: string, accept = "*/*") => {
    const response = await as.owner.request(path, { headers: { Accept: accept } });
    return { type: response.headers.get("content-type"), bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test.each(EXPORT_FORMATS)(
    "ending in .%s has the bytes of that format, whatever Accept says",
    async (format) => {
      const negotiated = await read(GRANTED, MEDIA_TYPES[format]);
      expect(negotiated.bytes.length).toBeGreaterThan(1_000);
      expect(await read(fileOf(format), "text/html, image/png")).toEqual(negotiated);
      const other = MEDIA_TYPES[format === "csv" ? "parquet" : "csv"];
      expect(await read(fileOf(format), other)).toEqual(negotiated);
    },
  );

  test("has another ending nowhere", async () => {
    expect(await ask(as.owner, fileOf("xlsx"))).toMatchObject({ status: 404, body: { code: "not-found" } });
  });

  test("names each package beside its id, in the last column", async () => {
    const names = new Map(artifacts.map(({ id }, index) => [id, ["image", "files"][index]]));
    const wanted = expected.map((line) => [line.package, names.get(line.package)]);
    const csv = (await read(fileOf("csv"))).bytes.toString().trimEnd().split("\n");
    expect(csv[0]).toMatch(/,"unique_total","package_name"$/);
    expect(csv.slice(1).map((row) => row.split(",").at(-1))).toEqual(wanted.map(([, name]) => `"${name}"`));
    const { bytes } = await read(fileOf("parquet"));
    const rows = (await parquetReadObjects({ file: new Uint8Array(bytes).buffer })) as AggregateV1[];
    expect(rows.map((row) => [row.package, row.package_name])).toEqual(wanted);
    const arrow = tableFromIPC((await read(fileOf("arrow"))).bytes);
    const arrowRows = arrow.toArray() as { package_name: string }[];
    expect(arrow.schema.fields.at(-1)).toMatchObject({ name: "package_name", nullable: false });
    expect(String(arrow.schema.fields.at(-1)?.type)).toBe("Utf8");
    expect(arrowRows.map((row) => row.package_name)).toEqual(wanted.map(([, name]) => name));
  });

  test("of lines names packages where it is asked to, and adds nothing else", async () => {
    const lines = (await ask(as.owner, fileOf("ndjson"))).body as AggregateV1[];
    expect(firstDifference(lines, expected)).toBe("");
    const named = (await ask(as.owner, `${fileOf("ndjson")}&fields=name`)).body as AggregateV1[];
    const names = new Map(artifacts.map(({ id }, index) => [id, ["image", "files"][index]]));
    const wanted = lines.map((line) => ({ ...line, package_name: names.get(line.package) }));
    expect(named).toEqual(wanted);
    expect(Object.keys(named[0] ?? {}).at(-1)).toBe("package_name");
  });

  test("has the new name of a package that was renamed, at once", async () => {
    const [{ id } = { id: "" }] = artifacts;
    const rename = (name: string) =>
      as.owner.request(`/v1/packages/${id}`, {
        method: "PUT",
        body: JSON.stringify({ name, shortDescription: "", backendUrl: "https://registry.example.org/a/b" }),
      });
    const renamed = await rename('say "hi", größer');
    const csv = (await read(`${fileOf("csv")}&package=${id}&breakdown=total`)).bytes.toString();
    await rename("image");
    expect(renamed.status).toBe(200);
    expect(csv.split("\n")[1]).toMatch(/,"say ""hi"", größer"$/);
  });
});

describe("an answer", () => {
  test("is compressed when asked for, and is the same lines", async () => {
    const plain = await openAnswer(as.owner, GRANTED, "identity");
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const packed = await openAnswer(as.owner, GRANTED, "gzip");
    expect(packed.headers["content-encoding"]).toBe("gzip");
    const text = await textOf(plain);
    expect(await textOf(packed.pipe(createGunzip()))).toBe(text);
    expect(firstDifference(parseLines(text), expected)).toBe("");
  });

  test("to HEAD has the headers and no body", async () => {
    const response = await as.owner.request(GRANTED, { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("ndjson");
    expect(await response.text()).toBe("");
    const refused = await as.stranger.request(GRANTED, { method: "HEAD" });
    expect(refused.status).toBe(404);
  });
});
