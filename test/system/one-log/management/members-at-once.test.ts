import { beforeEach, describe, expect, test } from "vitest";
import { lockRenames } from "../../../../api/access/owners.js";
import type { ServedApi, TestPostgres } from "../../../support/api/management-api.js";
import { useManagementApi } from "../../../support/api/use-management-api.js";
import { makeWorld, type Who, type World, readAudit } from "../../../support/api/management-world.js";

let postgres: TestPostgres;
let api: ServedApi;
let world: World;
let users: string;

useManagementApi((opened) => ({ postgres, api } = opened));

beforeEach(async () => {
  world = await makeWorld(api, postgres.pg);
  users = `/v1/organizations/${world.organization}/users`;
});

const put = (who: Who, username: string, role: string) =>
  api.call(world.tokens[who], `POST ${users}`, { username, role });
const remove = (who: Who, username: string) => api.call(world.tokens[who], `DELETE ${users}/${username}`);
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));
const statusesOf = async (answers: Promise<{ status: number }>[]) =>
  (await Promise.all(answers)).map(({ status }) => status).sort();
const owners = async () => {
  const text = `
    select a.name from memberships m join owners o on o.id = m.organization_id join owners a on a.id = m.account_id
    where o.name = $1 and m.role = 'owner' order by a.name`;
  const { rows } = await postgres.pg.query<{ name: string }>(text, [world.organization]);
  return rows.map(({ name }) => name);
};

/** Makes the calls while a rename holds its locks: `one` becomes another name, `other` becomes `one`. */
async function whileRenaming<T>([one, other]: [string, string], call: () => Promise<T>[]): Promise<T[]> {
  const renaming = await postgres.pg.connect();
  await renaming.query("begin");
  await lockRenames(renaming);
  await renaming.query("update owners set name = $1 where name = $2", [`${one}x`, one]);
  await renaming.query("update owners set name = $1 where name = $2", [one, other]);
  const answers = call();
  const waiting =
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(async () => (await renaming.query(waiting)).rowCount, { interval: 5 }).toBe(2);
  await renaming.query("commit");
  renaming.release();
  return Promise.all(answers);
}

describe("callers who change members at once", () => {
  test("add one member once, twenty at a time", async () => {
    const statuses = await statusesOf(times(20, () => put("admin", world.names.stranger, "member")));
    expect(statuses).toEqual([...Array<number>(19).fill(200), 201]);
    expect(await readAudit(postgres.pg, world.organization)).toHaveLength(1);
  });

  test("leave one of the roles that they gave, and a log that leads to it", async () => {
    const roles = times(20, (index) => (index % 2 === 0 ? "member" : "admin"));
    await Promise.all(roles.map((role) => put("owner", world.names.stranger, role)));
    const { body } = await api.call(world.tokens.owner, `GET ${users}`);
    const entries = (await readAudit(postgres.pg, world.organization)).map(
      ({ changes }) => changes["role"] as { old: string | null; new: string },
    );
    expect(entries.map(({ old }) => old)).toEqual([null, ...entries.slice(0, -1).map((entry) => entry.new)]);
    expect(body).toContainEqual({
      organizationName: world.organization,
      username: world.names.stranger,
      role: entries.at(-1)?.new,
    });
  });

  test("never take the last owner by way of a name that moves on while they wait", async () => {
    const { owner: ada, stranger: bob } = world.tokens;
    const record = (name: string) => ({ name, description: "", billingEmail: "pay@acme.example" });
    for (let round = 0; round < 12; round++) {
      const [one, other] = [`${world.organization}-a${round}`, `${world.organization}-b${round}`];
      for (const name of [one, other]) {
        await api.call(ada, "POST /v1/organizations", record(name));
        const both = { username: world.names.stranger, role: "owner" };
        await api.call(ada, `POST /v1/organizations/${name}/users`, both);
      }
      const answers = await whileRenaming([one, other], () => [
        api.call(bob, `DELETE /v1/organizations/${one}/users/${world.names.owner}`),
        api.call(ada, `DELETE /v1/organizations/${one}/users/${world.names.stranger}`),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
    }
  });

  test("remove one member once, twenty at a time", async () => {
    const statuses = await statusesOf(times(20, () => remove("admin", world.names.member)));
    expect(statuses).toEqual([204, ...Array<number>(19).fill(404)]);
  });

  test.each(times(10, (round) => round))("cannot both remove the other owner (round %i)", async () => {
    await put("owner", world.names.admin, "owner");
    const statuses = await statusesOf([
      remove("owner", world.names.admin),
      remove("admin", world.names.owner),
    ]);
    expect(statuses).toEqual([204, 404]);
    expect(await owners()).toHaveLength(1);
  });

  test("cannot all leave or step down as owners", async () => {
    const names = times(8, (index) => `own${index}-${world.organization}`);
    const tokens = await Promise.all(names.map((name) => api.account(name)));
    await Promise.all(names.map((name) => put("owner", name, "owner")));
    const leaving = names.map((username, index) =>
      index % 2 === 0
        ? api.call(tokens[index] ?? "", `DELETE ${users}/${username}`)
        : api.call(tokens[index] ?? "", `POST ${users}`, { username, role: "member" }),
    );
    const last = remove("owner", world.names.owner);
    const answers = await Promise.all([...leaving, last]);
    const refused = answers.filter(({ status }) => status === 422);
    expect(refused).toMatchObject([{ body: { code: "cannot-remove-last-owner" } }]);
    expect(answers.filter(({ status }) => status >= 400)).toHaveLength(1);
    expect(await owners()).toHaveLength(1);
  });

  test("add nobody once they are admins no more", async () => {
    const names = times(16, (index) => `new${index}-${world.organization}`);
    await Promise.all(names.map((name) => api.account(name)));
    const adding = names.map((name) => put("admin", name, "member"));
    const demoted = put("owner", world.names.admin, "member");
    const statuses = await statusesOf(adding);
    expect((await demoted).status).toBe(200);
    expect(new Set([...statuses, 201, 403])).toEqual(new Set([201, 403]));
    const log = await readAudit(postgres.pg, world.organization);
    const demotion = log.findIndex(({ name }) => name === world.names.admin);
    expect(log.slice(demotion + 1).filter(({ by }) => by === world.names.admin)).toEqual([]);
    expect(log).toHaveLength(statuses.filter((status) => status === 201).length + 1);
  });
});
