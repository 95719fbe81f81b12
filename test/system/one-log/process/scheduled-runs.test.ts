import type { Pool } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deleteExpiredImportKeys } from "../../../../api/features/imports/start-imports.js";
import { insertImport } from "../../../../api/features/imports/imports.js";
import { deleteEndedDeadLetters } from "../../../../api/features/imports/dead-letters.js";
import { runOnce } from "../../../../api/base/postgres/scheduled-runs.js";
import { connectPostgres } from "../../../../deploy/stores/connect-postgres.js";
import { cleanUpJobs } from "../../../../deploy/schedule/scheduled-jobs.js";
import { startSchedule } from "../../../../deploy/schedule/start-schedule.js";
import { postgres, usePostgres } from "../../../support/api/use-world.js";

/** Each a process of its own, as far as PostgreSQL can tell. */
let one: Pool;
let other: Pool;

const silent = pino({ level: "silent" });
const signal = new AbortController().signal;
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));

usePostgres();
beforeAll(() => void ([one, other] = [openPool(), openPool()]));
afterAll(async () => void (await Promise.all([one?.end(), other?.end()])));

function openPool(): Pool {
  return connectPostgres({ url: postgres.url, connectionsMax: 3, log: silent });
}

/** Comes to a time of a job. */
const runAt = (
  pg: Pool,
  job: string,
  { second = 0, ...run }: { second?: number } & Partial<Parameters<typeof runOnce>[2]>,
) => runOnce(pg, { job, dueAt: at(second) }, { work: async () => undefined, signal, ...run });

/** Work that lasts until the test ends it. */
function openWork() {
  let end = (_?: Error): void => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve() : reject(error));
  });
  const begun: number[] = [];
  const work = async (pg: Pick<Pool, "query">) => {
    const { rows } = await pg.query<{ pid: number }>("select pg_backend_pid() as pid");
    begun.push(rows[0]?.pid ?? 0);
    await ended;
  };
  return { work, begun, end };
}

test("exactly one of many runners that come to one time of a job does it", async () => {
  for (let second = 0; second < 10; second++) {
    let done = 0;
    const work = async () => void (done += 1);
    const asked = [one, other, one, other].map((pg) => runAt(pg, "many", { second, work, pollMs: 5 }));
    expect((await Promise.all(asked)).sort()).toEqual(["elsewhere", "elsewhere", "elsewhere", "here"]);
    expect(done).toBe(1);
  }
});

test("a runner that comes late to it, or to an earlier one, finds it done", async () => {
  const work = () => Promise.reject(new Error("not again"));
  const late = (second: number) => runAt(other, "many", { second, work });
  expect(await late(9)).toBe("elsewhere");
  expect(await late(3)).toBe("elsewhere");
});

test("different jobs do not wait for one another", async () => {
  const slow = openWork();
  const running = runAt(one, "slow", slow);
  await expect.poll(() => slow.begun.length).toBe(1);
  expect(await runAt(other, "quick", {})).toBe("here");
  slow.end();
  expect(await running).toBe("here");
});

test("a runner whose connection dies loses it to another", async () => {
  const first = openWork();
  const dying = runAt(one, "dying", first);
  await expect.poll(() => first.begun.length).toBe(1);
  const second = openWork();
  const waiting = runAt(other, "dying", { ...second, pollMs: 20 });
  await postgres.pg.query("select pg_terminate_backend($1)", [first.begun[0]]);
  await expect.poll(() => second.begun.length).toBe(1);
  second.end();
  expect(await waiting).toBe("here");
  first.end();
  await expect(dying).rejects.toThrow("The database is temporarily unavailable");
});

test("one that fails leaves it to another", async () => {
  const failing = openWork();
  const failed = runAt(one, "failing", failing);
  failed.catch(() => undefined);
  await expect.poll(() => failing.begun.length).toBe(1);
  const second = runAt(other, "failing", { pollMs: 20 });
  failing.end(new Error("a bad day"));
  await expect(failed).rejects.toThrow("a bad day");
  expect(await second).toBe("here");
});

test("a runner that waits for another stops waiting when it is stopped", async () => {
  const slow = openWork();
  const running = runAt(one, "waiting", slow);
  await expect.poll(() => slow.begun.length).toBe(1);
  const stop = new AbortController();
  const waiting = runAt(other, "waiting", {
    work: () => Promise.reject(new Error("never")),
    signal: stop.signal,
  });
  stop.abort();
  expect(await waiting).toBe("stopped");
  slow.end();
  await running;
});

test("two schedules of the same jobs do each time once, and finish what is under way when they end", async () => {
  const runs: string[] = [];
  const outcomes: string[] = [];
  const job = {
    name: "each second",
    schedule: "* * * * * *",
    run: async () => ({ run: runs.push(new Date().toISOString().slice(0, 19)) }),
  };
  const onRun = (_: string, outcome: string) => void outcomes.push(outcome);
  const schedules = [one, other].map((pg) => startSchedule([job], { pg, log: silent, onRun }));
  await expect.poll(() => runs.length).toBeGreaterThanOrEqual(3);
  await Promise.all(schedules.map((schedule) => schedule[Symbol.asyncDispose]()));
  expect(new Set(runs).size).toBe(runs.length);
  expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(runs.length);
  expect(outcomes).not.toContain("failed");
  const { length } = runs;
  const nextDueAt = Math.ceil(Date.now() / 1_000) * 1_000;
  await expect.poll(() => Date.now()).toBeGreaterThan(nextDueAt + 200);
  expect(runs).toHaveLength(length);
});

test("a time that passed while nothing ran is made up for once, by jobs that say so", async () => {
  // A minute ago, so that it is not due while this runs.
  const now = new Date(Date.now() - 60_000);
  const SCHEDULE = `${now.getUTCMinutes()} ${now.getUTCHours()} * * *`;
  const runs: string[] = [];
  const job = (name: string, catchesUp: boolean) => ({
    name,
    schedule: SCHEDULE,
    catchesUp,
    run: async () => ({ run: runs.push(name) }),
  });
  const jobs = [job("yearly", true), job("never mind", false), job("done before", true), job("new", true)];
  const put = (name: string, daysAgo: number) =>
    postgres.pg.query(
      "insert into scheduled_runs (job, due_at, done_at) values ($1, $2::timestamptz - make_interval(days => $3), now())",
      [name, now, daysAgo],
    );
  await put("yearly", 3);
  await put("never mind", 3);
  await put("done before", 0);
  const outcomes: string[] = [];
  const onRun = (name: string, outcome: string) => void outcomes.push(`${name}: ${outcome}`);
  const schedules = [one, other].map((pg) => startSchedule(jobs, { pg, log: silent, onRun }));
  await expect.poll(() => outcomes).toContain("yearly: done");
  await Promise.all(schedules.map((schedule) => schedule[Symbol.asyncDispose]()));
  expect(runs).toEqual(["yearly"]);
  // The other one comes to it at the same time, or finds later that it was made up for.
  expect(outcomes.filter((outcome) => outcome !== "yearly: elsewhere")).toEqual(["yearly: done"]);
});

test("a job that takes long is told to end, is not taken for done, and is done at the next start", async () => {
  const yesterday = new Date(Date.now() - 86_400_000);
  await postgres.pg.query("insert into scheduled_runs (job, due_at, done_at) values ('long', $1, now())", [
    yesterday,
  ]);
  let begun = 0;
  const job = {
    name: "long",
    schedule: "0 * * * *",
    catchesUp: true,
    run: (_: unknown, signal: AbortSignal) => {
      begun += 1;
      return new Promise<object>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    },
  };
  const outcomes: string[] = [];
  const onRun = (_: string, outcome: string) => void outcomes.push(outcome);
  const first = startSchedule([job], { pg: one, log: silent, onRun });
  await expect.poll(() => begun).toBe(1);
  await first[Symbol.asyncDispose]();
  expect(outcomes).toEqual([]);
  const quick = { ...job, run: async () => ({}) };
  await using _second = startSchedule([quick], { pg: other, log: silent, onRun });
  await expect.poll(() => outcomes).toEqual(["done"]);
});

test("cleaning up forgets keys after a day and dead letters long after their end, and nothing else", async () => {
  const { rows } = await postgres.pg.query<{ id: string }>(
    `with owner as (insert into owners (id, kind, name) values (gen_random_uuid(), 'user', 'ada') returning id)
     insert into accounts (id, email, token_hash, token_ciphertext)
     select id, 'ada@example.org', 'hash', 'text' from owner returning id`,
  );
  const ownerId = rows[0]?.id ?? "";
  const target = { ownerId, accountId: ownerId, artifactKind: "any", artifactId: "" } as const;
  for (const key of ["old", "new"])
    await insertImport(postgres.pg, target, { idempotency: { ownerId, key, path: "/v2/ada/import" } });
  await postgres.pg.query(
    "update import_keys set created_at = now() - interval '25 hours' where key = 'old'",
  );
  await postgres.pg.query(
    `insert into dead_letters (log_position, partition, "offset", sequence, first_line, lines, record, reason, tries, ended_at)
     values ('a', 0, 0, 0, 1, 1, 'x', 'bad', 3, null), ('b', 0, 1, 0, 1, 1, null, 'bad', 3, now()),
       ('c', 0, 2, 0, 1, 1, null, 'bad', 3, now() - interval '91 days')`,
  );
  const removed = new Map<string, number>();
  const [cleanUp] = cleanUpJobs({
    // This job touches PostgreSQL only.
    shards: undefined as never,
    retention: { importLogsDays: 90, rejectedLinesDays: 90, deliveriesDays: 30, auditDays: 365 },
    onRemoved: (kind, { rows }) => removed.set(kind, rows),
  });
  await postgres.pg.query(
    `insert into audit_entries (id, owner_id, action, target_kind, target_id, target_name, created_at)
     select gen_random_uuid(), $1, 'packages.create', 'package', 'x', 'x', now() - interval '1 day' * n
     from generate_series(1, 5400) n`,
    [ownerId],
  );
  await postgres.pg.query(
    `insert into mail_counts (message_id, counted_by, kind, sent_at)
     select gen_random_uuid(), 'receiver ada@example.org', 'digest', now() - interval '1 day' * n
     from unnest('{0, 7, 9, 10}'::int[]) n`,
  );
  expect(await cleanUp?.run(postgres.pg, signal)).toEqual({
    importKeys: 1,
    deadLetters: 1,
    webhooks: { deliveries: 0, attempts: 0, events: 0 },
    ...{ sessions: 0, signInLinks: 0, hosts: 0, auditEntries: 5036, notificationMessages: 0 },
    mailCounts: 2,
  });
  expect(Object.fromEntries(removed)).toMatchObject({
    audit_entries: 5036,
    idempotency_keys: 1,
    deliveries: 0,
  });
  const kept = await postgres.pg.query<{ name: string }>(
    "select key as name from import_keys union all select log_position from dead_letters order by name",
  );
  expect(kept.rows.map(({ name }) => name)).toEqual(["a", "b", "new"]);
  expect(await deleteExpiredImportKeys(postgres.pg)).toBe(0);
  expect(await deleteEndedDeadLetters(postgres.pg)).toBe(0);
});
