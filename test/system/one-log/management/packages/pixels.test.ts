import type { Pool } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { Account } from "../../../../../api/base/access/access.js";
import { pixelsForExport } from "../../../../../api/features/exports/exported-pixels.js";
import { readAccountByName } from "../../../../../api/base/identity/stored-accounts.js";
import { artifactForImport } from "../../../../../api/features/imports/artifact-resolver.js";
import { insertOrganization } from "../../../../../api/features/accounts/organizations.js";
import { updateExportEnabled } from "../../../../../api/features/exports/export-grants.js";
import { insertPackage } from "../../../../../api/features/packages/packages.js";
import { insertPixel } from "../../../../../api/features/packages/pixels.js";
import { idOf, setLevel, joinOrganization, type Who } from "../../../../support/api/management-world.js";
import {
  api,
  as,
  giveLevel,
  postgres,
  refused,
  useApi,
  useWorld,
  world,
} from "../../../../support/api/use-world.js";

describe("pixels", () => {
  useWorld();

  describe("a pixel", () => {
    const create = (who: Who, body: object = { name: "docs" }) =>
      as(who, `POST /v2/pixels/${world.organization}`, body);

    test("belongs to packages of the same owner only", async () => {
      const foreign = await as("admin", "POST /v1/packages", {
        name: "t",
        shortDescription: "",
      });
      for (const package_id of [idOf(foreign), "01990000-0000-7000-8000-000000000001"]) {
        const refused = await create("admin", { name: "docs", package_id });
        expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: "/package_id" }] } });
      }
    });

    test("takes a package of its owner by name, and no other one", async () => {
      const packages = `POST /v1/organizations/${world.organization}/packages`;
      const tool = await as("admin", packages, { name: "tool", shortDescription: "" });
      await as("admin", "POST /v1/packages", { name: "tool", shortDescription: "" });
      const created = await create("admin", { name: "docs", package_id: "tool" });
      expect(created).toMatchObject({ status: 201, body: { package_id: idOf(tool) } });
      const unknown = await create("admin", { name: "docs", package_id: "tools" });
      expect(unknown).toMatchObject({ status: 422, body: { errors: [{ path: "/package_id" }] } });
      await as("admin", packages, {
        name: "tool",
        shortDescription: "",
        libraryType: "npm",
      });
      const several = await create("admin", { name: "docs", package_id: "tool" });
      expect(several).toMatchObject(refused(409, "ambiguous-name"));
      await giveLevel("admin", idOf(tool), "blocked");
      const unseen = await create("admin", { name: "docs", package_id: idOf(tool) });
      expect(unseen.status).toBe(422);
    });

    test("is found by its name among those of its owner, while no other has it", async () => {
      const made = await create("admin", { name: "docs/größer" });
      const path = `/v2/pixels/${world.organization.toUpperCase()}/${encodeURIComponent("docs/größer")}`;
      expect(await as("member", `GET ${path}`)).toMatchObject({
        status: 200,
        body: made.body,
      });
      expect((await as("stranger", `GET ${path}`)).status).toBe(404);
      const elsewhere = path.replace(world.organization.toUpperCase(), world.names.admin);
      expect((await as("admin", `GET ${elsewhere}`)).status).toBe(404);
      await create("admin", { name: "docs/größer" });
      const several = await as("admin", `DELETE ${path}`);
      expect(several).toMatchObject(refused(409, "ambiguous-name"));
      expect((await as("stranger", `GET ${path}`)).status).toBe(404);
      const unknown = await as("admin", `GET ${path}s`);
      expect(unknown).toMatchObject({ status: 404 });
      expect(JSON.stringify(unknown.body)).toContain("Use an id or a name from GET /v2/pixels/{owner}");
    });
  });

  describe("artifactForImport", () => {
    test("is what the importer may import into, of that owner, and nothing else", async () => {
      const path = `/v1/organizations/${world.organization}/packages`;
      const made = await as("admin", `POST ${path}`, { name: "t", shortDescription: "" });
      const pixel = await as("admin", `POST /v2/pixels/${world.organization}`, {
        name: "p",
      });
      const { rows } = await postgres.pg.query<{ name: string; id: string }>("select name, id from owners");
      const idOfOwner = Object.fromEntries(rows.map(({ name, id }) => [name, id]));
      const ownerId = idOfOwner[world.organization] ?? "";
      const pixelId = (pixel.body as { id: string }).id;
      const find = (who: Who, kind: "package" | "pixel", id: string, owner = ownerId) =>
        artifactForImport(postgres.pg, {
          accountId: idOfOwner[world.names[who]] ?? "",
          ownerId: owner,
          kind,
          id,
        });
      expect(await find("admin", "package", idOf(made).toUpperCase())).toEqual({
        kind: "package",
        id: idOf(made),
        ownerId,
        libraryType: "other",
        name: "t",
      });
      expect(await find("owner", "pixel", pixelId)).toEqual({
        kind: "pixel",
        id: pixelId,
        ownerId,
        libraryType: "",
        name: "p",
      });
      expect(await find("admin", "package", "t")).toMatchObject({ id: idOf(made), libraryType: "other" });
      expect(await find("admin", "pixel", "p")).toMatchObject({ id: pixelId });
      expect(await find("admin", "pixel", "t")).toBeUndefined();
      expect(await find("member", "package", "t")).toBeUndefined();
      expect(await find("stranger", "pixel", "p")).toBeUndefined();
      expect(await find("admin", "package", "t", idOfOwner[world.names.admin])).toBeUndefined();
      expect(await find("member", "package", idOf(made))).toBeUndefined();
      expect(await find("stranger", "pixel", pixelId)).toBeUndefined();
      expect(await find("admin", "package", pixelId)).toBeUndefined();
      expect(await find("admin", "pixel", "not-a-uuid")).toBeUndefined();
      expect(await find("admin", "package", idOf(made), idOfOwner[world.names.admin])).toBeUndefined();
      await giveLevel("stranger", idOf(made), "admin");
      expect(await find("stranger", "package", idOf(made))).toMatchObject({ id: idOf(made) });
      expect(await find("stranger", "package", "t")).toMatchObject({ id: idOf(made) });

      const again = { name: "t", shortDescription: "", libraryType: "npm" };
      expect(await as("admin", `POST ${path}`, again)).toMatchObject({ status: 201 });
      await as("admin", `POST /v2/pixels/${world.organization}`, { name: "p" });
      expect(await find("admin", "package", "t")).toBeUndefined();
      expect(await find("admin", "pixel", "p")).toBeUndefined();
      expect(await find("admin", "package", idOf(made))).toMatchObject({ id: idOf(made) });
    });
  });
});

describe("pixels for an export", () => {
  let pg: Pool;
  let ids: Record<string, string>;
  let packageId: string;

  useApi();

  beforeAll(async () => {
    ({ pg } = postgres);
    for (const name of ["owner", "admin", "member", "stranger"]) await api.account(name);
    const { id: creatorId } = await accountOf("owner");
    const about = { description: "Tools", billingEmail: "pay@example.org" };
    const granted = await insertOrganization(pg, { organization: { name: "granted", ...about }, creatorId });
    const other = await insertOrganization(pg, { organization: { name: "ungranted", ...about }, creatorId });
    await updateExportEnabled(pg, { name: "granted", exportEnabled: true });
    for (const username of ["admin", "member"] as const)
      for (const organization of ["granted", "ungranted"])
        await joinOrganization(pg, { organization, username, role: username });
    const web = { name: "web", shortDescription: "", libraryType: "other" } as const;
    packageId = await insertPackage(pg, { ownerId: granted.id, package: web });
    const pixelOf = (ownerId: string, package_id?: string) =>
      insertPixel(pg, { ownerId, pixel: { name: "Handbook", ...(package_id && { package_id }) } });
    ids = {
      [await pixelOf(granted.id, packageId)]: "associated",
      [await pixelOf(granted.id)]: "alone",
      [await pixelOf(other.id)]: "ungranted",
      [await pixelOf((await accountOf("member")).id)]: "member's",
    };
  });

  async function accountOf(name: string): Promise<Account> {
    const account = await readAccountByName(pg, name);
    if (account === undefined) throw new Error(`there is no account ${name}`);
    return { ...account, tokenHash: Buffer.alloc(0) };
  }

  async function pixelsOf(name: string, limited?: Account["limited"]): Promise<string[]> {
    const account = { ...(await accountOf(name)), ...(limited && { limited }) };
    const { artifacts } = await pixelsForExport(pg, account, "export.read");
    return artifacts.map(({ id, packageName }) => `${ids[id]} ${packageName}`).sort();
  }

  describe("the pixels that may be exported", () => {
    test.each(["owner", "admin"])("are those of granted organizations, for an %s", async (name) => {
      expect(await pixelsOf(name)).toEqual(["alone ", "associated web"]);
    });

    test.each(["member", "stranger"])("are none for a %s to whom nothing is granted", async (name) => {
      await expect(pixelsOf(name)).rejects.toMatchObject({ code: "export-not-granted" });
    });

    test("are a member's own, once that is granted", async () => {
      await updateExportEnabled(pg, { name: "member", exportEnabled: true });
      expect(await pixelsOf("member")).toEqual(["member's "]);
    });

    test("do not tell of a package that the caller is blocked from", async () => {
      await setLevel(pg, { packageId, username: "admin", level: "blocked" });
      expect(await pixelsOf("admin")).toEqual(["alone ", "associated "]);
    });

    test("are none through a token for an owner on whom the caller is a member", async () => {
      const { rows } = await pg.query<{ id: string }>("select id from owners where name = 'granted'");
      const limited = { id: "laptop", name: "laptop", scopes: ["export" as const], ownerId: rows[0]?.id };
      await expect(pixelsOf("member", limited)).rejects.toMatchObject({ code: "forbidden" });
    });
  });
});
