import { describe, expect, test, vi } from "vitest";
import { serveApi } from "../../../support/api/management-api.js";
import { idOf, TIMESTAMP, UUID } from "../../../support/api/management-world.js";
import { api, as, postgres, useWorld, world } from "../../../support/api/use-world.js";

useWorld();

const TOKENS = "/v1/user/tokens";
const WRONG = `mtk_${"a".repeat(43)}`;
const BODY = { name: "ci", scopes: ["read"] };
const codeOf = ({ body }: { body: unknown }) => (body as { code?: string }).code;

describe("an additional token", () => {
  test("is answered once, listed without itself, and works until it is revoked", async () => {
    const { owner } = world.tokens;
    const sent = { ...BODY, owner: world.organization, expiresAt: "2999-01-01T00:00:00+01:00" };
    const created = await api.call(owner, `POST ${TOKENS}`, sent);
    const { token, ...listed } = created.body as { token: string };
    expect(created.status).toBe(201);
    expect(token).toMatch(/^mtk_[\w-]{43}$/);
    expect(listed).toEqual({
      ...sent,
      id: expect.stringMatching(UUID) as string,
      expiresAt: "2998-12-31T23:00:00.000000Z",
      createdAt: expect.stringMatching(TIMESTAMP) as string,
    });
    expect(await api.call(owner, `GET ${TOKENS}`)).toMatchObject({ status: 200, body: [listed] });
    expect((await api.call(token, "GET /v1/packages")).status).toBe(200);

    const revoke = `DELETE ${TOKENS}/${idOf(created).toUpperCase()}`;
    expect(await api.call(owner, revoke)).toMatchObject({ status: 204, body: "" });
    expect(codeOf(await api.call(token, "GET /v1/packages"))).toBe("unauthenticated");
    expect((await api.call(owner, `GET ${TOKENS}`)).body).toEqual([]);
    expect(codeOf(await api.call(owner, revoke))).toBe("not-found");
  });

  test("is kept as a keyed hash only", async () => {
    const token = await api.limitedToken(world.tokens.owner, { scopes: ["read"] });
    const { rows } = await postgres.pg.query("select t::text as row, token_hash from api_tokens t");
    expect(JSON.stringify(rows)).not.toContain(token.slice(4));
    expect(rows.map(({ token_hash }: { token_hash: Buffer }) => token_hash.toString("hex"))).toContain(
      api.tokens.hash(token).toString("hex"),
    );
  });

  test("is the business of its account alone", async () => {
    const created = await as("owner", `POST ${TOKENS}`, BODY);
    for (const path of [idOf(created), "not-a-uuid", "%00"])
      expect(codeOf(await as("admin", `DELETE ${TOKENS}/${path}`))).toBe("not-found");
    expect((await as("admin", `GET ${TOKENS}`)).body).toEqual([]);
    expect((await as("owner", `GET ${TOKENS}`)).body).toHaveLength(1);
  });

  test.each([
    [{ ...BODY, owner: "nobody-of-this-name" }, "/owner"],
    [{ ...BODY, expiresAt: "2001-01-01T00:00:00Z" }, "/expiresAt"],
    [{ ...BODY, scopes: ["everything"] }, "/scopes/0"],
  ])("is not made of %j", async (body, path) => {
    const answer = await as("owner", `POST ${TOKENS}`, body);
    expect(answer).toMatchObject({ status: 422, body: { code: "invalid-body", errors: [{ path }] } });
  });

  test("cannot be limited to what its maker does not belong to, as if that were not there", async () => {
    const { stranger } = world.tokens;
    const others = await Promise.all(
      [world.organization, world.names.owner, "no-such-owner"].map((owner) =>
        api.call(stranger, `POST ${TOKENS}`, { ...BODY, owner }),
      ),
    );
    expect(new Set(others.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const own = await api.call(stranger, `POST ${TOKENS}`, { ...BODY, owner: world.names.stranger });
    expect(own.status).toBe(201);
  });

  test("has a name of its own among those of its account", async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => as("owner", `POST ${TOKENS}`, BODY)));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect((await as("admin", `POST ${TOKENS}`, BODY)).status).toBe(201);
  });

  test("is one of a hundred at most, however many are asked for at once", async () => {
    const { owner } = world.tokens;
    const made = await Promise.all(
      Array.from({ length: 104 }, (_, count) =>
        api.call(owner, `POST ${TOKENS}`, { ...BODY, name: `t${count}` }),
      ),
    );
    const refused = made.filter(({ status }) => status !== 201);
    expect(refused.map(codeOf)).toEqual(Array(4).fill("too-many-tokens"));
    expect((await api.call(owner, `GET ${TOKENS}`)).body).toHaveLength(100);
  });

  test("is wrong from the moment at which it expires", async () => {
    const token = await api.limitedToken(world.tokens.owner, {
      scopes: ["read"],
      expiresAt: "2999-01-01T00:00:00Z",
    });
    expect((await api.call(token, "GET /v1/user")).status).toBe(200);
    await postgres.pg.query("update api_tokens set expires_at = now() where token_hash = $1", [
      api.tokens.hash(token),
    ]);
    expect(await api.call(token, "GET /v1/user")).toMatchObject({
      status: 401,
      body: (await api.call(WRONG, "GET /v1/user")).body,
    });
    expect((await as("owner", `GET ${TOKENS}`)).body).toHaveLength(1);
  });

  test("is marked as used once a minute, and no request waits for it", async () => {
    const token = await api.limitedToken(world.tokens.owner, { scopes: ["read"] });
    const lastUsedAt = async () =>
      ((await as("owner", `GET ${TOKENS}`)).body as { lastUsedAt?: string }[])[0]?.lastUsedAt;
    expect(await lastUsedAt()).toBeUndefined();
    const holding = await postgres.pg.connect();
    await holding.query("begin; select from api_tokens for update");
    expect((await api.call(token, "GET /v1/user")).status).toBe(200);
    expect(await lastUsedAt()).toBeUndefined();
    await holding.query("commit");
    holding.release();
    await expect.poll(lastUsedAt).toMatch(TIMESTAMP);
    const first = await lastUsedAt();
    await using second = await serveApi(postgres);
    expect((await second.call(token, "GET /v1/user")).status).toBe(200);
    expect(await lastUsedAt()).toBe(first);
  });
});

describe("wrong tokens", () => {
  test("from one address are refused after thirty, before the database is asked; right ones are not", async () => {
    await using proxied = await serveApi({ ...postgres, trustsProxy: () => true });
    const send = (token: string, from: string) =>
      fetch(`${proxied.url}/v1/user`, {
        headers: { authorization: `Bearer ${token}`, "x-forwarded-for": from },
      });
    const here = "203.0.113.7";
    const { owner, stranger } = world.tokens;
    expect((await send(owner, here)).status).toBe(200);
    const wrong = Array.from({ length: 30 }, (_, count) => [WRONG, "7", `${WRONG}x`][count % 3] ?? "");
    for (const token of wrong) expect((await send(token, here)).status).toBe(401);

    using query = vi.spyOn(postgres.pg, "query");
    const refused = await send(WRONG, here);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: "rate-limited" });
    expect((await send(stranger, here)).status).toBe(429);
    expect(query).not.toHaveBeenCalled();

    expect((await send(owner, here)).status).toBe(200);
    expect((await send(stranger, "203.0.113.8")).status).toBe(200);
    expect((await send(stranger, here)).status).toBe(200);
    expect((await send(WRONG, "203.0.113.8")).status).toBe(401);
  });

  test("of one caller lock out nobody else behind a proxy that sends Forwarded, neither of the API nor of the dashboard", async () => {
    await using proxied = await serveApi({ ...postgres, trustsProxy: () => true });
    const send = (path: string, from: string, init: RequestInit = {}) => {
      const headers = {
        authorization: `Bearer ${WRONG}`,
        origin: proxied.url,
        forwarded: `for="${from}:80"`,
      };
      return fetch(proxied.url + path, { headers, ...init }).then(({ status }) => status);
    };
    const signIn = (from: string) =>
      send("/dashboard/sign-in", from, {
        method: "POST",
        body: new URLSearchParams({ username: "nobody", secret: WRONG }),
      });
    for (let count = 0; count < 30; count += 1)
      await Promise.all([send("/v1/user", "203.0.113.7"), signIn("203.0.113.7")]);
    const both = (from: string) => Promise.all([send("/v1/user", from), signIn(from)]);
    expect(await both("203.0.113.7")).toEqual([429, 429]);
    expect(await both("203.0.113.8")).toEqual([401, 401]);
  });

  test("do not lock out an account that takes a new token at that address", async () => {
    await using plain = await serveApi(postgres);
    const token = await plain.account("rotating");
    expect((await plain.call(token, "GET /v1/user")).status).toBe(200);
    for (let count = 0; count < 31; count += 1) await plain.call(WRONG, "GET /v1/user");
    const rotated = await plain.call(token, "POST /v1/user/token");
    const fresh = (rotated.body as { token: string }).token;
    expect((await plain.call(fresh, "GET /v1/user")).status).toBe(200);
    const made = await plain.call(fresh, "POST /v1/user/tokens", { name: "reader", scopes: ["read"] });
    const reader = (made.body as { token: string }).token;
    expect((await plain.call(reader, "GET /v1/user")).status).toBe(200);
  });

  test("are counted by the connection's address where no proxy is trusted", async () => {
    await using plain = await serveApi(postgres);
    const statuses: number[] = [];
    for (let count = 0; count < 31; count += 1) {
      const headers = { authorization: `Bearer ${WRONG}`, "x-forwarded-for": `203.0.113.${count}` };
      statuses.push((await fetch(`${plain.url}/v1/user`, { headers })).status);
    }
    expect(statuses).toEqual([...Array<number>(30).fill(401), 429]);
  });

  test("are not what a request without any counts as", async () => {
    await using plain = await serveApi(postgres);
    const statuses = new Set<number>();
    for (let count = 0; count < 40; count += 1) statuses.add((await fetch(`${plain.url}/v1/user`)).status);
    expect([...statuses]).toEqual([401]);
  });
});
