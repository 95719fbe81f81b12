import { beforeEach, describe, expect, test } from "vitest";
import { switchExport } from "../../../../api/exports/export-grants.js";
import type { ServedApi, TestPostgres } from "../../../support/api/management-api.js";
import { useManagementApi } from "../../../support/api/use-management-api.js";
import { makeWorld, TIMESTAMP, UUID, type World } from "../../../support/api/management-world.js";

let postgres: TestPostgres;
let api: ServedApi;
let world: World;

useManagementApi((opened) => ({ postgres, api } = opened));

beforeEach(async () => {
  world = await makeWorld(api, postgres.pg);
});

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
    const { body } = await api.call(world.tokens.stranger, "GET /v1/user");
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
    const other = { name: `Other-${world.organization}`, description: "", billingEmail: "pay@acme.example" };
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
    await api.call(world.tokens.member, "POST /v1/user/token");
    expect((await api.call(limited, "GET /v1/user")).status).toBe(200);
  });

  test("answers one of many requests at once, and that answer's token is the only one that is right", async () => {
    const old = world.tokens.owner;
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.call(old, "POST /v1/user/token")));
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
