import { beforeEach, describe, expect, test } from "vitest";
import { lockRenames } from "../../../../api/base/access/owners.js";
import { callIfMatch, idOf, readAudit, type Who } from "../../../support/api/management-world.js";
import {
  api,
  as,
  faultsOf,
  giveLevel,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../support/api/use-world.js";

let users: string;

useWorld();

beforeEach(async () => {
  users = `/v1/organizations/${world.organization}/users`;
});

describe("members", () => {
  const put = (who: Who, username: string, role: string) => as(who, `POST ${users}`, { username, role });
  const remove = (who: Who, username: string) => as(who, `DELETE ${users}/${encodeURIComponent(username)}`);
  const record = (who: Who, role: string) => ({
    organizationName: world.organization,
    username: world.names[who],
    role,
  });
  const roles = async () =>
    ((await as("owner", `GET ${users}`)).body as { username: string; role: string }[]).map(
      ({ username, role }) => [username, role],
    );

  describe("the list of members", () => {
    test("has every member with their role, by username without case", async () => {
      await api.account(`Bea-${world.organization}`);
      await put("owner", `bea-${world.organization}`, "member");
      const listed = await as("member", `GET ${users}`);
      expect(listed).toMatchObject({ status: 200 });
      expect(listed.body).toEqual([
        record("admin", "admin"),
        { ...record("member", "member"), username: `Bea-${world.organization}` },
        record("member", "member"),
        record("owner", "owner"),
      ]);
    });
  });

  describe("adding or changing a member", () => {
    test("answers 201 with the record when it added and 200 when it changed", async () => {
      const added = await put("admin", world.names.stranger.toUpperCase(), "member");
      expect(added).toMatchObject({ status: 201, body: record("stranger", "member") });
      const changed = await put("admin", world.names.stranger, "admin");
      expect(changed).toMatchObject({ status: 200, body: record("stranger", "admin") });
      expect(await roles()).toContainEqual([world.names.stranger, "admin"]);
      expect((await as("stranger", `GET ${users}`)).status).toBe(200);
    });

    test("lets an admin neither demote an owner nor promote themselves", async () => {
      const demoted = await put("admin", world.names.owner, "member");
      const promoted = await put("admin", world.names.admin, "owner");
      const removed = await remove("admin", world.names.owner);
      // In the role that they have.
      const kept = await put("admin", world.names.owner, "owner");
      for (const answer of [demoted, promoted, removed, kept]) {
        expect(answer).toMatchObject(refused(403, "forbidden"));
      }
      expect(await roles()).toContainEqual([world.names.owner, "owner"]);
    });

    test("names a user that does not exist, and an organization is none", async () => {
      for (const username of ["nobody", "no body", world.organization, `${world.names.member}@example.org`]) {
        const answer = await put("admin", username, "member");
        expect(answer).toMatchObject(refused(422, "unknown-user"));
        expect((answer.body as { message: string }).message).toContain(username);
      }
    });

    test("names every fault of a body at once", async () => {
      const answer = await as("admin", `POST ${users}`, { role: "boss", user: "x" });
      expect(answer).toMatchObject(refused(422, "invalid-body"));
      expect(faultsOf(answer)).toEqual(["/role", "/user", "/username"]);
      expect((await put("admin", "a\0b", "member")).status).toBe(422);
    });

    test("keeps the last owner one, and lets any other go", async () => {
      const last = await put("owner", world.names.owner, "admin");
      expect(last).toMatchObject(refused(422, "cannot-remove-last-owner"));
      expect((await put("owner", world.names.owner, "owner")).status).toBe(200);
      await put("owner", world.names.admin, "owner");
      expect((await put("owner", world.names.owner, "member")).status).toBe(200);
      expect((await put("owner", world.names.admin, "member")).status).toBe(403);
    });
  });

  describe("removing a member", () => {
    test("takes away what the role gave, and keeps explicit package levels", async () => {
      const path = `POST /v1/organizations/${world.organization}/packages`;
      const body = { name: "tool", shortDescription: "" };
      const tool = idOf(await as("owner", path, body));
      const other = idOf(await as("owner", path, { ...body, name: "other" }));
      await giveLevel("member", tool, "member");
      const removed = await remove("admin", world.names.member.toUpperCase());
      expect(removed).toMatchObject({ status: 204, body: "" });
      expect((await as("member", `GET /v1/organizations/${world.organization}`)).status).toBe(404);
      expect((await as("member", `GET /v1/packages/${other}`)).status).toBe(404);
      expect((await as("member", `GET /v1/packages/${tool}`)).status).toBe(200);
    });

    test("that is none is 404, whatever the name", async () => {
      for (const name of [world.names.stranger, "nobody", world.organization, "a\0b", "a/b"]) {
        expect(await remove("admin", name)).toMatchObject(refused(404, "not-found"));
      }
      await remove("admin", world.names.member);
      expect((await remove("admin", world.names.member)).status).toBe(404);
    });

    test("by themselves is open to everybody but the last owner", async () => {
      expect((await remove("member", world.names.member)).status).toBe(204);
      await put("owner", world.names.admin, "owner");
      expect((await remove("owner", world.names.owner)).status).toBe(204);
      const last = await remove("admin", world.names.admin);
      expect(last).toMatchObject(refused(422, "cannot-remove-last-owner"));
    });
  });

  describe("the audit log", () => {
    test("has one entry for each change with the old and the new role, and none for what changed nothing", async () => {
      await put("admin", world.names.stranger, "member");
      await put("admin", world.names.stranger, "member");
      await put("owner", world.names.stranger, "admin");
      await put("member", world.names.stranger, "member");
      await remove("stranger", world.names.stranger);
      await remove("admin", world.names.stranger);
      const entry = { action: "members.write", kind: "member", name: world.names.stranger };
      expect(await readAudit(postgres.pg, world.organization)).toEqual([
        { ...entry, by: world.names.admin, changes: { role: { old: null, new: "member" } } },
        { ...entry, by: world.names.owner, changes: { role: { old: "member", new: "admin" } } },
        { ...entry, by: world.names.stranger, changes: { role: { old: "admin", new: null } } },
      ]);
    });
  });

  describe("If-Match", () => {
    test("holds a change to the list that the caller saw", async () => {
      const ifMatch = (await as("admin", `GET ${users}`)).headers.get("etag") ?? "";
      const token = world.tokens.admin;
      const add = {
        token,
        request: `POST ${users}`,
        body: { username: world.names.stranger, role: "member" },
      };
      const leave = { token, request: `DELETE ${users}/${world.names.member}` };
      const stale = { status: 412, code: "precondition-failed" };
      expect((await callIfMatch(api, { ...add, ifMatch })).status).toBe(201);
      expect(await callIfMatch(api, { ...add, ifMatch })).toEqual(stale);
      expect(await callIfMatch(api, { ...leave, ifMatch })).toEqual(stale);
      expect((await callIfMatch(api, { ...leave, ifMatch: "*" })).status).toBe(204);
    });
  });
});

describe("members at once", () => {
  const put = (who: Who, username: string, role: string) => as(who, `POST ${users}`, { username, role });
  const remove = (who: Who, username: string) => as(who, `DELETE ${users}/${username}`);
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
      const { body } = await as("owner", `GET ${users}`);
      const entries = (await readAudit(postgres.pg, world.organization)).map(
        ({ changes }) => changes["role"] as { old: string | null; new: string },
      );
      expect(entries.map(({ old }) => old)).toEqual([
        null,
        ...entries.slice(0, -1).map((entry) => entry.new),
      ]);
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
});
