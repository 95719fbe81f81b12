import { beforeEach, describe, expect, test } from "vitest";
import type { ServedApi, TestPostgres } from "../../../../support/api/management-api.js";
import { useManagementApi } from "../../../../support/api/use-management-api.js";
import {
  idOf,
  makeWorld,
  setLevel,
  type Who,
  type World,
  readAudit,
} from "../../../../support/api/management-world.js";

let postgres: TestPostgres;
let api: ServedApi;
let world: World;
let id: string;

useManagementApi((opened) => ({ postgres, api } = opened));

beforeEach(async () => {
  world = await makeWorld(api, postgres.pg);
  const body = { name: "tool", shortDescription: "" };
  const made = api.call(world.tokens.owner, `POST /v1/organizations/${world.organization}/packages`, body);
  id = idOf(await made);
});

interface Wanted {
  userQuery: string;
  permissionLevel: string;
}

const set = (who: Who, body: unknown) =>
  api.call(world.tokens[who], `POST /v1/packages/${id}/permissions`, body);
const to = (who: Who, permissionLevel: string) => ({ userQuery: world.names[who], permissionLevel });
const remove = (who: Who) =>
  api.call(world.tokens.owner, `DELETE /v1/organizations/${world.organization}/users/${world.names[who]}`);
const levels = async () =>
  (await api.call(world.tokens.owner, `GET /v1/packages/${id}/permissions`)).body as {
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
    await setLevel(postgres.pg, { packageId: id, username: world.names.stranger, level: "admin" });
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
