import { beforeEach, describe, expect, test } from "vitest";
import { idOf } from "../../../../support/api/management-world.js";
import {
  as,
  faultsOf,
  giveLevel,
  makeOwnPackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../../support/api/use-world.js";

let path: string;
let tool: string;

useWorld();

beforeEach(async () => {
  const packages = `/v1/organizations/${world.organization}/packages`;
  tool = idOf(await as("admin", `POST ${packages}`, { name: "tool", shortDescription: "" }));
  path = await make();
});

async function make(): Promise<string> {
  const list = `/v2/pixels/${world.organization}`;
  return `${list}/${idOf(await as("admin", `POST ${list}`, { name: "docs", package_id: tool }))}`;
}

describe("changing a pixel", () => {
  test("renames a pixel that the path names by its old name, also under the older word", async () => {
    const byName = `/v2/tracking-pixels/${world.organization}/docs`;
    const renamed = await as("admin", `PUT ${byName}`, { name: "manual", package_id: tool });
    expect(renamed).toMatchObject({ status: 200, body: { name: "manual" } });
    expect((await as("member", `GET ${path}`)).body).toEqual(renamed.body);
  });

  test("a pixel does not tell of a package to who is blocked from it", async () => {
    const list = `GET /v2/pixels/${world.organization}`;
    for (const who of ["member", "owner"] as const) await giveLevel(who, tool, "blocked");
    for (const ask of [list, `GET ${path}`]) {
      expect(JSON.stringify((await as("member", ask)).body)).not.toContain(tool);
      for (const who of ["owner", "admin"] as const)
        expect(JSON.stringify((await as(who, ask)).body)).toContain(tool);
    }
  });

  test("takes packages of the same owner that the caller sees, and names every fault", async () => {
    const foreign = await makeOwnPackage("admin", { name: "t" });
    await giveLevel("admin", tool, "blocked");
    for (const package_id of [foreign, tool, "01990000-0000-7000-8000-000000000001"])
      expect(await as("admin", `PUT ${path}`, { name: "docs", package_id })).toMatchObject({
        ...refused(422, "invalid-body"),
        body: { errors: [{ path: "/package_id" }] },
      });
    const answer = await as("owner", `PUT ${path}`, { package_id: 5, y: 1 });
    expect(faultsOf(answer)).toEqual(["/name", "/package_id", "/y"]);
  });
});

describe("a pixel of a package that the caller cannot see", () => {
  beforeEach(() => giveLevel("admin", tool, "blocked"));

  test.each([
    ["PUT", { name: "docs" }],
    ["PUT", { name: "docs", package_id: null }],
    ["DELETE", undefined],
  ])("is not taken from it: %s %j", async (method, body) => {
    expect(await as("admin", `${method} ${path}`, body)).toMatchObject(refused(403, "forbidden"));
    expect((await as("owner", `GET ${path}`)).body).toMatchObject({ name: "docs", package_id: tool });
    expect((await as("owner", `${method} ${path}`, body)).status).toBeLessThan(300);
  });

  test("is not moved to another one", async () => {
    const packages = `/v1/organizations/${world.organization}/packages`;
    const other = idOf(await as("admin", `POST ${packages}`, { name: "other", shortDescription: "" }));
    const body = { name: "docs", package_id: other };
    expect(await as("admin", `PUT ${path}`, body)).toMatchObject(refused(403, "forbidden"));
    expect(await as("owner", `PUT ${path}`, body)).toMatchObject({ status: 200, body });
  });
});

describe("a pixel is changed and deleted", () => {
  test("once: a later caller is told that there is none", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => as("admin", `DELETE ${path}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404, 404]);
    const id = path.split("/").at(-1);
    const { rows } = await postgres.pg.query("select erased_at from deleted_artifacts where id = $1", [id]);
    expect(rows).toEqual([{ erased_at: null }]);
  });

  test("while its package is deleted, and both end well", async () => {
    const pixels = await Promise.all(Array.from({ length: 4 }, make));
    const answers = await Promise.all([
      ...pixels.map((pixel) => as("admin", `PUT ${pixel}`, { name: "x", package_id: tool })),
      as("owner", `DELETE /v1/packages/${tool}`),
      ...pixels.map((pixel) => as("owner", `PUT ${pixel}`, { name: "y", package_id: tool })),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 204, 422].includes(status))).toEqual([]);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    for (const pixel of pixels)
      expect((await as("admin", `GET ${pixel}`)).body).not.toHaveProperty("package_id");
  });
});
