import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Pool } from "pg";
import { pixelsForExport } from "../../../../../api/exports/exported-pixels.js";
import { readAccountByName } from "../../../../../api/identity/stored-accounts.js";
import type { Account } from "../../../../../api/access/access.js";
import { insertOrganization, updateExportEnabled } from "../../../../../api/organizations/organizations.js";
import { insertPackage } from "../../../../../api/packages/packages.js";
import { insertPixel } from "../../../../../api/pixels/pixels.js";
import {
  openTestPostgres,
  serveApi,
  type ServedApi,
  type TestPostgres,
} from "../../../../support/api/management-api.js";
import { joinOrganization, setLevel } from "../../../../support/api/management-world.js";

let postgres: TestPostgres;
let pg: Pool;
let api: ServedApi;
let ids: Record<string, string>;
let packageId: string;

beforeAll(async () => {
  postgres = await openTestPostgres();
  ({ pg } = postgres);
  api = await serveApi({ pg });
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

afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
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
