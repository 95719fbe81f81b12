import { afterAll, beforeAll, expect, test } from "vitest";
import { createSession, findSession, type SessionDeps } from "../../../../api/identity/sessions.js";
import { readAccountByName } from "../../../../api/stores/accounts/accounts.js";
import { deleteEndedSessions, listSessions } from "../../../../api/stores/accounts/sessions.js";
import {
  openTestPostgres,
  serveApi,
  type ServedApi,
  type TestPostgres,
} from "../../../support/api/management-api.js";

let postgres: TestPostgres;
let api: ServedApi;
let deps: SessionDeps;

beforeAll(async () => {
  postgres = await openTestPostgres();
  api = await serveApi(postgres);
  deps = { pg: postgres.pg, tokens: api.tokens };
}, 60_000);

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const BROWSER = { userAgent: "Mozilla/5.0 (X11; Linux x86_64)", address: "203.0.113.77" };

async function signedIn(username: string) {
  const token = await api.account(username);
  const { id } = (await readAccountByName(postgres.pg, username))!;
  const begin = () => createSession(deps, { accountId: id, method: "token", browser: BROWSER });
  return { token, id, begin, secret: await begin() };
}

test("a session is found by its secret until it was idle for 7 days or is 30 days old", async () => {
  const { id, secret } = await signedIn("ada");
  const found = await findSession(deps, secret);
  expect(found?.session).toMatchObject({ method: "token", account: { id, username: "ada" } });
  expect(found?.usedLongAgo).toBe(false);
  expect(await listSessions(postgres.pg, id)).toMatchObject([{ network: "203.0.113.0/24" }]);

  const age = (column: string, interval: string) =>
    postgres.pg.query(`update sessions set ${column} = now() - $2::interval where account_id = $1`, [
      id,
      interval,
    ]);
  await age("last_used_at", "6 days 23 hours");
  expect((await findSession(deps, secret))?.usedLongAgo).toBe(true);
  await age("last_used_at", "7 days");
  expect(await findSession(deps, secret)).toBeUndefined();
  await age("last_used_at", "0");
  await age("created_at", "30 days");
  expect(await findSession(deps, secret)).toBeUndefined();
  expect(await listSessions(postgres.pg, id)).toEqual([]);
  expect(await deleteEndedSessions(postgres.pg)).toBe(1);
});

test("the database does not have the secret", async () => {
  const { id, secret } = await signedIn("bob");
  const { rows } = await postgres.pg.query(
    "select sessions::text as row from sessions where account_id = $1",
    [id],
  );
  expect(JSON.stringify(rows)).not.toContain(secret.slice(4, 12));
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString("hex"));
});

test("a new token for the account ends every session of it, and no other's", async () => {
  const other = await signedIn("carl");
  const { token, secret, begin } = await signedIn("dora");
  const second = await begin();
  expect((await api.call(token, "POST /v1/user/token")).status).toBe(200);
  expect(await findSession(deps, secret)).toBeUndefined();
  expect(await findSession(deps, second)).toBeUndefined();
  expect(await findSession(deps, other.secret)).toBeDefined();
});

test("the API never takes a session: neither as a cookie nor as a token", async () => {
  const { secret } = await signedIn("eve");
  const cookie = `maintainer-session.${new URL(api.url).port}=${secret}`;
  for (const headers of [{ cookie }, { cookie, authorization: `Bearer ${secret}` }]) {
    const answer = await fetch(`${api.url}/v1/user`, { headers });
    expect(answer.status).toBe(401);
  }
});

test("an account of very many sessions keeps the hundred that were used last", async () => {
  const { id, begin } = await signedIn("fay");
  for (let made = 1; made < 103; made += 1) await begin();
  expect(await listSessions(postgres.pg, id)).toHaveLength(100);
});
