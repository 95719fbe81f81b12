import { beforeEach, describe, expect, test } from "vitest";
import { assignNpmName } from "../../../../../api/packages/npm-names.js";
import { readCollectedPackages } from "../../../../../api/packages/collect-sites.js";
import { auditOf, idOf, makeWorld, type World } from "../../../../support/api/management-world.js";
import type { ServedApi, TestPostgres } from "../../../../support/api/management-api.js";
import { useManagementApi } from "../../../../support/api/use-management-api.js";

let postgres: TestPostgres;
let api: ServedApi;
let world: World;
let own: string;
let count = 0;

useManagementApi((opened) => ({ postgres, api } = opened));

beforeEach(async () => {
  world = await makeWorld(api, postgres.pg);
  own = `name${count++}`;
});

/** The organization's admin, and one who has nothing to do with it. */
type Who = "admin" | "stranger";
const as = (who: Who, request: string, body?: unknown) => api.call(world.tokens[who], request, body);

function make(who: Who, body: object) {
  const owner = who === "admin" ? `/v1/organizations/${world.organization}` : "/v1";
  return as(who, `POST ${owner}/packages`, body);
}

describe("an npm name", () => {
  const npm = (name: string) => ({ name, shortDescription: "", libraryType: "npm" });
  const taken = { status: 409, body: { code: "already-exists" } };

  test("is the owner's who has a package of that name first, and free once they have none", async () => {
    const [name, other] = [`@acme/${own}`, `@acme/other-${own}`];
    const first = idOf(await make("admin", npm(name)));
    expect(await make("stranger", npm(name))).toMatchObject(taken);
    const moved = idOf(await make("stranger", npm(other)));
    expect(await as("stranger", `PUT /v1/packages/${moved}`, npm(name))).toMatchObject(taken);
    expect(await as("stranger", `PUT /v1/packages/${moved}`, npm(other))).toMatchObject({ status: 200 });
    // Other types have names of their own.
    expect(await make("stranger", { ...npm(name), libraryType: "other" })).toMatchObject({ status: 201 });
    await as("admin", `DELETE /v1/packages/${first}`);
    expect(await as("stranger", `PUT /v1/packages/${moved}`, npm(name))).toMatchObject({ status: 200 });
  });

  test("goes to one of many owners who ask for it at once", async () => {
    const name = `@acme/at-once-${own}`;
    const calls = Array.from({ length: 8 }, (_, at) => make(at % 2 === 0 ? "admin" : "stranger", npm(name)));
    expect((await Promise.all(calls)).filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test("is assigned by an operator, to whom it may be, and both owners see that", async () => {
    const name = `@acme/assigned-${own}`;
    await make("admin", npm(name));
    await assignNpmName(postgres.pg, { name, owner: world.names.stranger });
    expect(await make("stranger", npm(name))).toMatchObject({ status: 201 });
    for (const owner of [world.organization, world.names.stranger]) {
      const entries = await auditOf(postgres.pg, { owner, kind: "npm-name" });
      expect(entries.map((entry) => [entry.name, entry.changes])).toEqual([
        [name, { owner: world.names.stranger }],
      ]);
    }
    const served = await readCollectedPackages(postgres.pg);
    const reporting = served.filter((each) => each.name === name).map(({ mayReport }) => mayReport);
    expect(reporting.sort()).toEqual([false, true]);
    await expect(assignNpmName(postgres.pg, { name, owner: "nobody-here" })).rejects.toThrow("no user");
  });
});
