import { beforeEach, describe, expect, test } from "vitest";
import { switchExport } from "../../../../api/features/exports/export-grants.js";
import { TIMESTAMP, UUID } from "../../../support/api/management-world.js";
import { api, as, postgres, refused, useWorld, world } from "../../../support/api/use-world.js";

useWorld();

describe("organizations", () => {
  let path: string;

  beforeEach(async () => {
    path = `/v1/organizations/${world.organization}`;
  });

  const ABOUT = { description: "Things", billingEmail: "pay@acme.example" };
  const same = () => ({ name: world.organization, ...ABOUT });

  describe("changing an organization", () => {
    test("removes a website that is left out or null", async () => {
      await as("owner", `PUT ${path}`, { ...same(), website: "acme.example" });
      expect((await as("owner", `PUT ${path}`, same())).body).not.toHaveProperty("website");
      await as("owner", `PUT ${path}`, { ...same(), website: "acme.example" });
      expect((await as("owner", `PUT ${path}`, { ...same(), website: null })).body).not.toHaveProperty(
        "website",
      );
    });

    test("is not there for a user or for what does not exist", async () => {
      expect(await as("owner", `PUT /v1/organizations/${world.names.owner}`, same())).toMatchObject(
        refused(404, "not-found"),
      );
      expect((await as("owner", "PUT /v1/organizations/none%00", same())).status).toBe(404);
    });

    test("refuses a body that a new organization could not have either", async () => {
      const answer = await as("admin", `PUT ${path}`, { name: "packages", billingEmail: "x", role: 1 });
      expect(answer).toMatchObject(refused(422, "invalid-body"));
      const { errors } = answer.body as { errors: { path: string }[] };
      const faulty = ["/billingEmail", "/description", "/name", "/role"];
      expect(errors.map((error) => error.path).sort()).toEqual(faulty);
    });
  });

  describe("renaming an organization", () => {
    test("takes members and packages along and frees the old name at once", async () => {
      const made = await as("admin", `POST ${path}/packages`, { name: "tool", shortDescription: "" });
      const name = `${world.organization}-new`;
      expect((await as("admin", `PUT ${path}`, { ...same(), name })).body).toMatchObject({ name });
      expect((await as("member", `GET ${path}`)).status).toBe(404);
      const members = await as("member", `GET /v1/organizations/${name}/users`);
      expect(members.body).toMatchObject([
        { organizationName: name },
        { organizationName: name },
        { organizationName: name },
      ]);
      const { uuid } = made.body as { uuid: string };
      expect((await as("member", `GET /v1/packages/${uuid}`)).body).toMatchObject({ owner: name });
      expect((await as("stranger", "POST /v1/organizations", same())).status).toBe(201);
      expect((await as("stranger", `GET ${path}`)).status).toBe(200);
      expect((await as("member", `GET ${path}`)).status).toBe(404);
    });

    test("may change the case of its own name", async () => {
      const name = world.organization.toUpperCase();
      expect((await as("admin", `PUT ${path}`, { ...same(), name })).body).toMatchObject({ name });
      expect((await as("admin", `GET ${path}`)).body).toMatchObject({ name });
    });

    test("to the name of a user or another organization is refused, whatever the case", async () => {
      await as("stranger", "POST /v1/organizations", { ...ABOUT, name: `${world.organization}x` });
      for (const name of [world.names.stranger.toUpperCase(), `${world.organization}X`]) {
        const answer = await as("admin", `PUT ${path}`, { ...same(), name });
        expect(answer).toMatchObject(refused(409, "already-exists"));
      }
      expect((await as("admin", `GET ${path}`)).status).toBe(200);
    });

    test("by two at once to each other's name ends with both named, and neither fails of itself", async () => {
      const other = `${world.organization}-b`;
      await as("owner", "POST /v1/organizations", { ...ABOUT, name: other });
      for (let round = 0; round < 20; round += 1) {
        const answers = await Promise.all([
          as("owner", `PUT ${path}`, { ...same(), name: other }),
          as("owner", `PUT /v1/organizations/${other}`, same()),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([409, 409]);
      }
      expect((await as("owner", `GET ${path}`)).status).toBe(200);
      expect((await as("owner", `GET /v1/organizations/${other}`)).status).toBe(200);
    });

    test("to one name by twenty at once gives it to one of them", async () => {
      const numbers = Array.from({ length: 20 }, (_, index) => index);
      const names = numbers.map((number) => `${world.organization}.${number}`);
      for (const name of names) await as("owner", "POST /v1/organizations", { ...ABOUT, name });
      const wanted = `${world.organization}.wanted`;
      const renamed = names.map((name) =>
        as("owner", `PUT /v1/organizations/${name}`, { ...ABOUT, name: wanted }),
      );
      const statuses = (await Promise.all(renamed)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, ...Array<number>(19).fill(409)]);
    });
  });
});

describe("the user", () => {
  describe("the user details", () => {
    test("show the account, its organizations by name, and its own token to that token", async () => {
      const { names, tokens, organization } = world;
      const second = { name: `0-${organization}`, description: "", billingEmail: "pay@acme.example" };
      await api.call(tokens.admin, "POST /v1/organizations", second);
      await switchExport(postgres.pg, { name: organization.toLowerCase(), exportEnabled: true });
      const { status, body } = await api.call(tokens.admin, "GET /v1/user");
      expect(status).toBe(200);
      expect(body).toEqual({
        username: names.admin,
        email: `${names.admin}@example.org`,
        createdAt: expect.stringMatching(TIMESTAMP) as string,
        exportEnabled: false,
        organizations: [
          { name: second.name, role: "owner", exportEnabled: false },
          { name: organization, role: "admin", exportEnabled: true },
        ],
        token: tokens.admin,
      });
    });

    test("say when the account itself may export", async () => {
      await switchExport(postgres.pg, { name: world.names.stranger, exportEnabled: true });
      const { body } = await as("stranger", "GET /v1/user");
      expect(body).toMatchObject({ exportEnabled: true, organizations: [] });
    });

    test("show an additional token what it is, and never the account's own", async () => {
      const limits = { name: "ci", scopes: ["read", "import"], expiresAt: "2999-01-01T00:00:00Z" };
      const limited = await api.limitedToken(world.tokens.owner, limits);
      const { body } = await api.call(limited, "GET /v1/user");
      expect(body).not.toHaveProperty("token");
      expect(body).toMatchObject({
        username: world.names.owner,
        tokenInUse: {
          id: expect.stringMatching(UUID) as string,
          name: "ci",
          scopes: ["read", "import"],
          expiresAt: "2999-01-01T00:00:00.000000Z",
        },
      });
    });

    test("show a token of one owner no other organization", async () => {
      const { owner } = world.tokens;
      const other = {
        name: `Other-${world.organization}`,
        description: "",
        billingEmail: "pay@acme.example",
      };
      await api.call(owner, "POST /v1/organizations", other);
      const limited = await api.limitedToken(owner, { scopes: ["read"], owner: other.name.toUpperCase() });
      const { body } = await api.call(limited, "GET /v1/user");
      expect(body).toMatchObject({
        organizations: [{ name: other.name, role: "owner", exportEnabled: false }],
        tokenInUse: { owner: other.name },
      });
    });
  });

  describe("rotating the account's own token", () => {
    test("answers the new one, and the old one is wrong from then on", async () => {
      const old = world.tokens.member;
      const { status, body } = await api.call(old, "POST /v1/user/token");
      expect(status).toBe(200);
      expect(body).toEqual({ token: expect.stringMatching(/^mtk_[\w-]{43}$/) as string });
      const { token } = body as { token: string };
      expect((await api.call(old, "GET /v1/user")).status).toBe(401);
      expect((await api.call(token, "GET /v1/user")).body).toMatchObject({ token });
    });

    test("leaves additional tokens as they are", async () => {
      const limited = await api.limitedToken(world.tokens.member, { scopes: ["read"] });
      await as("member", "POST /v1/user/token");
      expect((await api.call(limited, "GET /v1/user")).status).toBe(200);
    });

    test("answers one of many requests at once, and that answer's token is the only one that is right", async () => {
      const old = world.tokens.owner;
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => api.call(old, "POST /v1/user/token")),
      );
      const made = answers.flatMap(({ status, body }) => (status === 200 ? [body as { token: string }] : []));
      expect(made).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(11);
      expect((await api.call(made[0]?.token ?? "", "GET /v1/user")).status).toBe(200);
      expect((await api.call(old, "GET /v1/user")).status).toBe(401);
    });

    test("does not happen in between the making of an additional token by the old one", async () => {
      const old = world.tokens.owner;
      const answers = await Promise.all([
        api.call(old, "POST /v1/user/token"),
        ...Array.from({ length: 10 }, (_, count) =>
          api.call(old, "POST /v1/user/tokens", { name: `t${count}`, scopes: ["read"] }),
        ),
      ]);
      const [rotated, ...made] = answers;
      const { token } = rotated.body as { token: string };
      const listed = (await api.call(token, "GET /v1/user/tokens")).body as unknown[];
      expect(listed).toHaveLength(made.filter(({ status }) => status === 201).length);
      expect(made.filter(({ status }) => status !== 201 && status !== 401)).toEqual([]);
    });
  });
});
