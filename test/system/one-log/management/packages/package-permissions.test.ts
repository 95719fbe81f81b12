import { beforeEach, describe, expect, test } from "vitest";
import { callIfMatch, readAudit, WHO, type Who } from "../../../../support/api/management-world.js";
import {
  api,
  as,
  faultsOf,
  giveLevel,
  makeOwnPackage,
  makePackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../../support/api/use-world.js";

let id: string;

useWorld();
const to = (who: Who, permissionLevel: string) => ({ userQuery: world.names[who], permissionLevel });

describe("permissions", () => {
  let path: string;

  beforeEach(async () => {
    id = await makePackage({ name: "team/tool" });
    path = `/v1/packages/${id}`;
  });

  const set = (by: Who, body: unknown) => as(by, `POST ${path}/permissions`, body);
  const levels = async () =>
    (
      (await as("owner", `GET ${path}/permissions`)).body as { username: string; permissionLevel: string }[]
    ).map(({ username, permissionLevel }) => [username, permissionLevel]);

  describe("the permissions of a package", () => {
    test("are the explicit levels only, by username", async () => {
      expect(await levels()).toEqual([]);
      await set("admin", [to("stranger", "member"), to("owner", "blocked"), to("admin", "admin")]);
      expect(await levels()).toEqual([
        [world.names.admin, "admin"],
        [world.names.owner, "blocked"],
        [world.names.stranger, "member"],
      ]);
    });

    test("are set with an empty answer, by the package's name as well as by its id", async () => {
      const answer = await as("admin", "POST /v1/packages/team%2Ftool/permissions", to("stranger", "admin"));
      expect(answer).toMatchObject({ status: 204, body: "" });
      const read = await as("stranger", "GET /v1/packages/team%2Ftool/permissions");
      expect(read.body).toEqual([{ username: world.names.stranger, permissionLevel: "admin" }]);
    });

    test("by a name that several packages share need packageType", async () => {
      await makeOwnPackage("owner", { name: "team/tool", libraryType: "npm" });
      const answers = [
        await as("owner", "GET /v1/packages/team%2Ftool/permissions"),
        await as("owner", "POST /v1/packages/team%2Ftool/permissions", to("stranger", "member")),
      ];
      for (const answer of answers) {
        expect(answer).toMatchObject(refused(409, "ambiguous-name"));
      }
      const one = "/v1/packages/team%2Ftool/permissions?packageType=file";
      expect((await as("owner", `POST ${one}`, to("stranger", "member"))).status).toBe(204);
      expect((await as("owner", `GET ${one}`)).body).toMatchObject([{ permissionLevel: "member" }]);
      expect((await as("owner", `POST ${one}s`, to("stranger", "member"))).status).toBe(400);
    });

    test("belong to the user whose own package it is, and to those whom they made admin", async () => {
      const own = await makeOwnPackage("member", { name: "own" });
      const statuses = () =>
        Promise.all(WHO.map(async (who) => (await as(who, `GET /v1/packages/${own}/permissions`)).status));
      expect(await statuses()).toEqual([404, 404, 200, 404]);
      const body = [
        to("stranger", "admin"),
        to("admin", "member"),
        to("owner", "blocked"),
        to("member", "blocked"),
      ];
      expect((await as("member", `POST /v1/packages/${own}/permissions`, body)).status).toBe(204);
      expect(await statuses()).toEqual([404, 403, 200, 200]);
    });

    test("are not found where there is no package", async () => {
      const none = "00000000-0000-7000-8000-000000000000";
      for (const name of [none, "none", "a%00b"]) {
        expect((await as("owner", `GET /v1/packages/${name}/permissions`)).status).toBe(404);
        const answer = await as("owner", `POST /v1/packages/${name}/permissions`, to("stranger", "member"));
        expect(answer).toMatchObject(refused(404, "not-found"));
      }
    });
  });

  describe("a level", () => {
    const read = (who: Who) => as(who, `GET ${path}`).then(({ status }) => status);

    test("gives and takes access at once, and default leaves what the role gives", async () => {
      await set("admin", to("stranger", "member"));
      await set("admin", to("member", "blocked"));
      expect([await read("stranger"), await read("member")]).toEqual([200, 404]);
      await set("admin", [to("stranger", "default"), to("member", "default")]);
      expect([await read("stranger"), await read("member")]).toEqual([404, 200]);
      expect(await levels()).toEqual([]);
    });

    test("may be taken from themselves by an admin, who is out then; an owner never is", async () => {
      expect((await set("owner", to("owner", "blocked"))).status).toBe(204);
      expect((await set("owner", to("owner", "member"))).status).toBe(204);
      expect((await set("admin", to("admin", "member"))).status).toBe(204);
      expect(await set("admin", to("admin", "admin"))).toMatchObject(refused(403, "forbidden"));
    });

    test("finds its user by email address or username, both without case", async () => {
      const address = `${world.names.stranger}@example.org`.toUpperCase();
      const byAddress = { userQuery: address, permissionLevel: "member" };
      const byName = { userQuery: world.names.member.toUpperCase(), permissionLevel: "admin" };
      expect((await set("admin", [byAddress, byName])).status).toBe(204);
      expect(await levels()).toEqual([
        [world.names.member, "admin"],
        [world.names.stranger, "member"],
      ]);
    });
  });

  describe("a request that sets permissions", () => {
    test("sets none when one of its users does not exist, and names all who do not", async () => {
      const queries = ["nobody", world.names.stranger, "no@body.example", world.organization];
      const body = queries.map((userQuery) => ({ userQuery, permissionLevel: "member" }));
      const answer = await set("admin", body);
      expect(answer).toMatchObject(refused(422, "unknown-user"));
      const message = `Unknown user: nobody, no@body.example, ${world.organization}.`;
      expect(answer.body).toMatchObject({ message });
      expect(faultsOf(answer)).toEqual(["/0/userQuery", "/2/userQuery", "/3/userQuery"]);
      expect(await levels()).toEqual([]);
      const single = await set("admin", { userQuery: "nobody", permissionLevel: "member" });
      expect(single).toMatchObject(refused(422, "unknown-user"));
      expect(faultsOf(single)).toEqual(["/userQuery"]);
    });

    test("names one user once, however they are called", async () => {
      const twice = { userQuery: `${world.names.stranger}@example.org`, permissionLevel: "admin" };
      const answer = await set("admin", [to("stranger", "member"), to("member", "member"), twice]);
      expect(answer).toMatchObject(refused(422, "invalid-body"));
      expect(faultsOf(answer)).toEqual(["/2/userQuery"]);
      expect(await levels()).toEqual([]);
    });

    test("may be empty and holds a thousand at most", async () => {
      expect((await set("admin", [])).status).toBe(204);
      const many = (count: number) => Array.from({ length: count }, () => to("stranger", "member"));
      expect(faultsOf(await set("admin", many(1001)))).toEqual([""]);
    });

    test.each([
      [{}, ["/permissionLevel", "/userQuery"]],
      [
        { userQuery: "", permissionLevel: "owner", level: "admin" },
        ["/level", "/permissionLevel", "/userQuery"],
      ],
      [
        [{ userQuery: "a", permissionLevel: "admin" }, { userQuery: "b\0", permissionLevel: 1 }, 2],
        ["/1/permissionLevel", "/1/permissionLevel", "/1/userQuery", "/2"],
      ],
      ["admin", [""]],
      [null, [""]],
    ])("that is %j is refused for every fault", async (body, expected) => {
      const answer = await set("admin", body);
      expect(answer).toMatchObject(refused(422, "invalid-body"));
      expect(faultsOf(answer)).toEqual(expected);
    });

    test("passes with the ETag of the list that was read, and not with an older one", async () => {
      const ifMatch = (await as("admin", `GET ${path}/permissions`)).headers.get("etag") ?? "";
      const request = { token: world.tokens.admin, request: `POST ${path}/permissions`, ifMatch };
      const body = to("stranger", "member");
      expect((await callIfMatch(api, { ...request, body })).status).toBe(204);
      expect(await callIfMatch(api, { ...request, body })).toEqual({
        status: 412,
        code: "precondition-failed",
      });
    });

    test("is written into the audit log once for each level that changed", async () => {
      await set("admin", [to("stranger", "member"), to("member", "blocked")]);
      await set("owner", [to("stranger", "member"), to("member", "default"), to("owner", "default")]);
      await set("member", to("stranger", "admin"));
      const entry = { action: "permissions.write", kind: "permission", name: "team/tool" };
      const changed = (who: Who, old: string, level: string) => ({
        username: world.names[who],
        permissionLevel: { old, new: level },
      });
      expect(await readAudit(postgres.pg, world.organization)).toEqual([
        { ...entry, by: world.names.admin, changes: changed("stranger", "default", "member") },
        { ...entry, by: world.names.admin, changes: changed("member", "default", "blocked") },
        { ...entry, by: world.names.owner, changes: changed("member", "blocked", "default") },
      ]);
    });
  });
});

describe("permissions at once", () => {
  beforeEach(async () => {
    id = await makePackage({ name: "tool" });
  });

  interface Wanted {
    userQuery: string;
    permissionLevel: string;
  }

  const set = (who: Who, body: unknown) => as(who, `POST /v1/packages/${id}/permissions`, body);
  const remove = (who: Who) =>
    as("owner", `DELETE /v1/organizations/${world.organization}/users/${world.names[who]}`);
  const levels = async () =>
    (await as("owner", `GET /v1/packages/${id}/permissions`)).body as {
      username: string;
      permissionLevel: string;
    }[];
  const times = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i));
  const makeUsers = async (count: number) => {
    const names = times(count, (index) => `user${index}-${world.organization}`);
    await Promise.all(names.map((name) => api.account(name)));
    return names;
  };
  const LEVELS = ["member", "admin", "blocked"] as const;

  describe("callers who set permissions at once", () => {
    test("leave one of their arrays whole, in whatever order each names its users", async () => {
      const names = await makeUsers(5);
      const arrays: Wanted[][] = times(20, (index) => {
        const permissionLevel = LEVELS[index % LEVELS.length] ?? "";
        const array = names.map((userQuery) => ({ userQuery, permissionLevel }));
        return index % 2 === 0 ? array : array.reverse();
      });
      const answers = await Promise.all(arrays.map((array, i) => set(i % 2 ? "owner" : "admin", array)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
      const left = await levels();
      expect(left).toHaveLength(5);
      expect(new Set(left.map(({ permissionLevel }) => permissionLevel)).size).toBe(1);
    });

    test("and one half of whom remove what the other half give leave a log that adds up", async () => {
      const [name = ""] = await makeUsers(1);
      const bodies = times(20, (i) => ({ userQuery: name, permissionLevel: i % 2 ? "member" : "default" }));
      const answers = await Promise.all(bodies.map((body) => set("admin", body)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
      const entries = (await readAudit(postgres.pg, world.organization)).map(
        ({ changes }) => changes["permissionLevel"] as { old: string; new: string },
      );
      expect(entries.map((entry) => entry.old)).toEqual([
        "default",
        ...entries.slice(0, -1).map((entry) => entry.new),
      ]);
      const [left = { permissionLevel: "default" }] = await levels();
      expect(left.permissionLevel).toBe(entries.at(-1)?.new);
    });

    test.each([
      ["lose their role", "admin", () => remove("admin")],
      ["lose their level", "stranger", () => set("owner", to("stranger", "member"))],
    ] as const)("set none once they %s", async (_how, by, demote) => {
      await giveLevel("stranger", id, "admin");
      const names = await makeUsers(12);
      const setting = names.map((userQuery) => set(by, { userQuery, permissionLevel: "member" }));
      expect((await demote()).status).toBeLessThan(300);
      const statuses = (await Promise.all(setting)).map(({ status }) => status);
      expect(statuses.filter((status) => ![204, 403, 404].includes(status))).toEqual([]);
      const log = await readAudit(postgres.pg, world.organization);
      const demotion = log.findIndex(({ by }) => by === world.names.owner);
      expect(demotion).toBeGreaterThanOrEqual(0);
      expect(log.slice(demotion + 1)).toEqual([]);
      expect(log).toHaveLength(statuses.filter((status) => status === 204).length + 1);
    });

    test("find a package that goes away gone, and nothing breaks", async () => {
      const names = await makeUsers(12);
      const setting = names.map((userQuery) => set("admin", { userQuery, permissionLevel: "member" }));
      await postgres.pg.query("delete from packages where id = $1", [id]);
      const statuses = (await Promise.all(setting)).map(({ status }) => status);
      expect(statuses.filter((status) => ![204, 404].includes(status))).toEqual([]);
    });
  });
});
