import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Pool } from "pg";
import { pino } from "pino";
import { connectPostgres } from "../../../../deploy/stores/connect-postgres.js";
import {
  type Answer,
  type ServedApi,
  type TestPostgres,
  openTestPostgres,
  serveApi,
} from "../../../support/api/management-api.js";
import { type World, makeWorld } from "../../../support/api/management-world.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";

const LIMITS = { connectionMs: 1_000, lockMs: 800, statementMs: 2_000 };

let postgres: TestPostgres;
let requests: Pool;
let api: ServedApi;
let world: World;

beforeAll(async () => {
  postgres = await openTestPostgres();
  const log = pino({ level: "silent" });
  requests = connectPostgres({ url: postgres.url, connectionsMax: 3, log, limits: LIMITS });
  api = await serveApi({ pg: requests });
});

afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await requests?.end();
  await postgres?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  world = await makeWorld(api, postgres.pg);
});

const READS = ["/v1/packages", "/v1/user"];
const read = (at: number) => api.call(world.tokens.member, `GET ${READS[at % READS.length]}`);
const create = (name: string) =>
  api.call(world.tokens.admin, `POST /v1/organizations/${world.organization}/packages`, {
    name,
    shortDescription: "",
  });
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));

/** Runs `work` while another connection holds what `statement` locks. */
const whileHeld = (statement: string, work: () => Promise<void>) =>
  onPostgres(postgres.url, async (client) => {
    await client.query("begin");
    await client.query(statement, statement.includes("$1") ? [world.organization] : []);
    await work();
    await client.query("rollback");
  });

/** While a lock is held, all come from the limits: nothing else would end the waiting. */
const answered = (sent: Promise<Answer>[]): Promise<Answer[]> => Promise.all(sent);

function expectUnavailable(answers: readonly Answer[]): void {
  for (const { status, headers, body } of answers) {
    expect({ status, body }).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(headers.get("Retry-After")).toMatch(/^\d+$/);
  }
}

async function expectAllWell(): Promise<void> {
  const reads = await answered(times(20, read));
  const writes = await answered(times(10, (i) => create(`after-${i}`)));
  expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(writes.map(({ status }) => status))).toEqual(new Set([201]));
}

describe("while another holds on to", () => {
  test("a table that all requests read, each is answered 503, and after that all is well", async () => {
    await whileHeld("lock table accounts in access exclusive mode", async () => {
      const sent = times(200, (i) => (i % 4 === 0 ? create(`held-${i}`) : read(i)));
      expectUnavailable(await answered(sent));
      const { status } = await api.call("", "GET /healthz");
      expect(status).toBe(200);
    });
    await expectAllWell();
  });

  test("one organization, a change to it is answered 503, and nothing of it is done", async () => {
    await whileHeld("select from owners where name = $1 for update", async () => {
      const [alone] = await answered([create("alone")]);
      expectUnavailable([alone as Answer]);
      expect((alone as Answer).body).toMatchObject({ message: "The database is too busy. Try again later." });
      // Four of an account wait for the database, and the others for those.
      const many = await answered(times(100, (i) => create(`held-${i}`)));
      expectUnavailable(many.filter(({ status }) => status !== 429));
      expect(many.every(({ headers }) => /^\d+$/.test(headers.get("Retry-After") ?? ""))).toBe(true);
    });
    const { body } = await api.call(
      world.tokens.member,
      `GET /v1/organizations/${world.organization}/packages`,
    );
    expect(body).toEqual([]);
    await expectAllWell();
  });

  test("every connection, requests are answered 503", async () => {
    const held = await Promise.all(times(3, () => requests.connect()));
    expectUnavailable(await answered(times(50, read)));
    held.forEach((client) => client.release());
    await expectAllWell();
  });
});

test("a request that gave up waiting leaves its connection to the next one", async () => {
  const pids = async () =>
    (await postgres.pg.query<{ pid: number }>(CONNECTIONS, [])).rows.map(({ pid }) => pid);
  await answered(times(20, read));
  const before = await pids();
  await whileHeld("select from owners where name = $1 for update", async () => {
    expectUnavailable(await answered([create("one"), create("two")]));
  });
  expect(before).toEqual(expect.arrayContaining(await pids()));
});

const CONNECTIONS = `
  select pid from pg_stat_activity
  where datname = current_database() and application_name = 'maintainer-toolchain' and pid <> pg_backend_pid()
  order by pid`;

test("work of the service's own waits as long as it takes", async () => {
  const own = connectPostgres({ url: postgres.url, connectionsMax: 1, log: pino({ level: "silent" }) });
  const { rows } = await own.query(
    "select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement",
  );
  await own.end();
  expect(rows).toEqual([{ lock: "0", statement: "0" }]);
});

test("a connection plans each statement once, and keeps a bounded number of plans", async () => {
  const pool = connectPostgres({
    url: postgres.url,
    connectionsMax: 1,
    log: pino({ level: "silent" }),
    limits: LIMITS,
  });
  const prepared = async () =>
    (await pool.query<{ plans: number }>("select count(*)::int as plans from pg_prepared_statements")).rows[0]
      ?.plans;
  for (const value of [1, 2, 3]) {
    const { rows } = await pool.query("select $1::int as value", [value]);
    expect(rows).toEqual([{ value }]);
  }
  expect(await prepared()).toBe(1);
  for (let nth = 0; nth < 600; nth += 1) await pool.query(`select $1::int as value_${nth}`, [nth]);
  expect(await prepared()).toBeLessThanOrEqual(500);
  await pool.end();
});

test("a connection that breaks while idle is told of in a few words, without the key that cancels its queries", async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const pool = connectPostgres({ url: postgres.url, connectionsMax: 1, log });
  const { rows } = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  await postgres.pg.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
  await expect.poll(() => lines.length).toBe(1);
  await pool.end();
  expect(lines[0]).toContain("an idle PostgreSQL connection broke");
  expect(lines[0]).not.toContain("secretKey");
});

test("a connection that its server ends while the pool is closing is not told of", async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const pool = connectPostgres({ url: postgres.url, connectionsMax: 1, log });
  const client = await pool.connect();
  client.release();
  const ended = pool.end();
  client.emit("error", new Error("terminating connection due to administrator command"));
  await ended;
  expect(lines).toEqual([]);
});
