import { beforeEach, describe, expect, test } from "vitest";
import { wholeOwnerFor } from "../../../../api/base/access/authorise.js";
import { readAccountByName } from "../../../../api/base/identity/stored-accounts.js";
import { importEndingRoutes } from "../../../../api/features/imports/import-ending-routes.js";
import {
  importFaultRoutes,
  importRecordRoutes,
} from "../../../../api/features/imports/import-record-routes.js";
import { insertImport } from "../../../../api/features/imports/imports.js";
import { deleteArtifact } from "../../../../api/features/packages/packages.js";
import type { Postgres } from "../../../../api/base/postgres/query.js";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import type { Who } from "../../../support/api/management-world.js";
import {
  as,
  giveLevel,
  makePackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../support/api/use-world.js";

let list: string;

describe("imports of the blocked", () => {
  let closed: string;
  /** Into the package that all but strangers are blocked from, into another one, and into whatever lines name. */
  let hidden: string[];
  let seen: string;
  let any: string;

  useWorld(({ pg }) => {
    // Log entries of lines are not read here.
    const clickhouse = connectClickHouse("http://127.0.0.1:1");
    const active = new ActiveUploads();
    const records = [...importRecordRoutes({ pg, clickhouse }), ...importFaultRoutes({ pg, clickhouse })];
    return { routes: [...records, ...importEndingRoutes({ pg, active })] };
  });

  beforeEach(async () => {
    list = `/v2/imports/${world.organization}`;
    closed = await makePackage({ name: "closed" });
    const open = await makePackage({ name: "open" });
    const older = await start("package", closed);
    seen = await start("package", open);
    const newer = await start("package", closed);
    any = await start("any", "");
    hidden = [older, newer, await start("package", closed)];
    for (const who of ["owner", "admin", "member"] as const) await giveLevel(who, closed, "blocked");
  });

  async function start(
    artifactKind: "package" | "any",
    artifactId: string,
    starter: Who = "owner",
  ): Promise<string> {
    const { rows } = await postgres.pg.query<{ ownerId: string; accountId: string }>(
      `select o.id as "ownerId", u.id as "accountId" from owners o, owners u where o.name = $1 and u.name = $2`,
      [world.organization, world.names[starter]],
    );
    const [by = { ownerId: "", accountId: "" }] = rows;
    return (await insertImport(postgres.pg, { ...by, artifactKind, artifactId })).id;
  }

  async function listed(who: Who, query = ""): Promise<{ ids: string[]; next: string | undefined }> {
    const { body } = await as(who, `GET ${list}${query}`);
    const { event_imports, next } = body as { event_imports: { id: string }[]; next?: string };
    return { ids: event_imports.map(({ id }) => id), next };
  }

  test("a member who is blocked from a package is answered as if its imports were not there", async () => {
    for (const who of ["admin", "member", "stranger"] as const)
      for (const id of hidden)
        expect(await as(who, `GET ${list}/${id}`)).toMatchObject(refused(404, "not-found"));
    expect((await as("admin", `GET ${list}/${seen}`)).status).toBe(200);
    expect((await as("admin", `GET ${list}/${any}`)).status).toBe(200);
  });

  test("an admin of the owner who may no more than read a package may not read its imports", async () => {
    const text = "update package_permissions set level = 'member' where package_id = $1";
    await postgres.pg.query(text, [closed]);
    const answer = await as("admin", `GET ${list}/${hidden[0]}`);
    expect(answer).toMatchObject(refused(403, "forbidden"));
  });

  test("a list leaves them out, and its pages are as full as others", async () => {
    expect((await listed("admin")).ids).toEqual([any, seen]);
    const first = await listed("admin", "?per_page=1");
    expect(first.ids).toEqual([any]);
    expect(first.next).toContain(`after=${any}`);
    expect(await listed("admin", `?per_page=1&after=${any}`)).toEqual({ ids: [seen], next: undefined });
  });

  test("an owner is blocked from nothing", async () => {
    expect((await listed("owner")).ids).toEqual([any, seen, ...hidden].sort().reverse());
    for (const id of hidden) expect((await as("owner", `GET ${list}/${id}`)).status).toBe(200);
  });

  test("the imports of a package that is gone are up to the role", async () => {
    await deleteArtifact(postgres.pg, "packages", closed);
    expect((await listed("admin")).ids).toEqual([any, seen, ...hidden].sort().reverse());
    expect((await as("admin", `GET ${list}/${hidden[0]}`)).status).toBe(200);
    expect((await as("member", `GET ${list}/${hidden[0]}`)).status).toBe(403);
  });

  test("an import whose lines name their packages keeps them from who is blocked from one, unless they started it", async () => {
    const own = await start("any", "", "admin");
    const text = "update imports set status = 'done' where id = any($1)";
    await postgres.pg.query(text, [[any, own]]);
    const asks = ["GET /log", "GET /rejected", "GET /faults", "POST /abort?retract=true", "DELETE "];
    const ask = (who: Who, id: string) =>
      asks.map(async (each) => {
        const [method = "", path = ""] = each.split(" ");
        return (await as(who, `${method} ${list}/${id}${path}`)).status;
      });
    expect(await Promise.all(ask("admin", any))).toEqual([403, 403, 403, 403, 403]);
    expect(await Promise.all(ask("admin", own))).not.toContain(403);
    expect(await Promise.all(ask("owner", any))).not.toContain(403);
    await giveLevel("stranger", closed, "blocked");
    expect(await Promise.all(ask("stranger", any))).toEqual([404, 404, 404, 404, 404]);
  });

  test("who is blocked from one package is found without reading the others", async () => {
    for (let more = 0; more < 5; more += 1) await makePackage({ name: `more-${more}` });
    let rows = 0;
    const query = async (text: string, values: unknown[]) => {
      const answer = await postgres.pg.query(text, values);
      rows += answer.rows.length;
      return answer;
    };
    const account = await readAccountByName(postgres.pg, world.names.admin);
    const asked = wholeOwnerFor({ query } as Postgres, account as never, world.organization, "funnel.read");
    await expect(asked).rejects.toMatchObject({ code: "forbidden" });
    // The owner, and whether.
    expect(rows).toBe(2);
  });

  test("the audit log says nothing of a package to who is blocked from it, and all to an owner", async () => {
    const packages = `/v1/packages/${closed}`;
    await as("owner", `POST ${packages}/routes`, { templatePath: "/{v}", outgoingUrl: "" });
    await as("owner", `POST ${packages}/domains`, { name: "closed.example" });
    await as("owner", `PUT ${packages}/permissions`, {
      userQuery: world.names.member,
      permissionLevel: "member",
    });
    await postgres.pg.query("update imports set status = 'done' where id = any($1)", [[...hidden, seen]]);
    await as("owner", `DELETE ${list}/${hidden[0]}`);
    await as("owner", `DELETE ${list}/${seen}`);
    const read = async (who: Who) =>
      JSON.stringify((await as(who, `GET /v2/${world.organization}/audit?per_page=1000`)).body);
    const all = await read("owner");
    for (const word of ["routes.", "domains.", "closed.example", closed, hidden[0]])
      expect(all).toContain(word);
    const some = await read("admin");
    for (const word of ["closed", "routes.", closed, hidden[0]]) expect(some).not.toContain(word);
    expect(some).toContain(seen);
  });
});
