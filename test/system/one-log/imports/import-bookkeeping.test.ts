import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { emptyTally } from "../../../../enrich/lines/tally-lines.js";
import { readCompleteThrough, readExportState } from "../../../../api/features/imports/export-state.js";
import { abortImport, retractImport } from "../../../../api/features/imports/import-endings.js";
import {
  ACTIVE_IMPORTS_MAX,
  type AskedImport,
  findRepeatedImport,
  groupStarts,
  startImports,
} from "../../../../api/features/imports/start-imports.js";
import { putChunks } from "../../../../api/features/imports/import-progress.js";
import { insertImport } from "../../../../api/features/imports/imports.js";
import { asOnlySettlement, dueImports } from "../../../../api/features/imports/settlements.js";
import { uploadStore } from "../../../../api/features/imports/uploads.js";
import { onConnection } from "../../../../api/base/postgres/connection.js";
import { insertLock, latestRecount } from "../../../../api/base/postgres/insert-lock.js";
import type { Postgres } from "../../../../api/base/postgres/query.js";
import type { ChunkOutcome } from "../../../../schemas/records/chunk-outcome.js";
import type { OwnerSettlement } from "../../../../schemas/records/settlement.js";
import { completeUpload } from "../../../support/imports/open-upload.js";
import { postgres, usePostgres } from "../../../support/api/use-world.js";

const SLICE = { eventsMax: 1_000, chunksMax: 10 };

let pg: Pool;
let ownerId: string;
let id: string;

usePostgres();
beforeAll(() => void ({ pg } = postgres));

beforeEach(async () => {
  [ownerId, id] = await makeImport();
});

const targetOf = (ownerId: string) =>
  ({ ownerId, accountId: ownerId, artifactKind: "any", artifactId: "" }) as const;

/** An import whose one chunk is in the log. */
async function makeImport(): Promise<[string, string]> {
  const account = randomUUID();
  await pg.query("insert into owners (id, kind, name) values ($1, 'user', $2)", [
    account,
    `u${account.slice(0, 8)}`,
  ]);
  await pg.query("insert into accounts (id, email, token_hash, token_ciphertext) values ($1, $2, $3, $3)", [
    account,
    `${account}@example.org`,
    Buffer.from(account),
  ]);
  const made = await insertImport(pg, targetOf(account));
  await completeUpload(pg, { importId: made.id, ownerId: account });
  return [account, made.id];
}

const report = () =>
  putChunks(pg, [
    {
      importId: id,
      sequence: 0,
      receiptStamp: 1,
      ...emptyTally(),
      eventsTotal: 5,
      eventsImported: 5,
    } satisfies ChunkOutcome,
  ]);

async function settling(work: (owner: OwnerSettlement) => Promise<void>): Promise<void> {
  expect(await asOnlySettlement(pg, ownerId, work)).toBe(true);
}

const settleAll = () =>
  settling(async (owner) => {
    await owner.markSettled([{ id, retracted: false }], await owner.unsettledChunks([id], SLICE));
    await owner.finishComplete([id]);
  });

async function statusNow(): Promise<string> {
  const { rows } = await pg.query<{ status: string }>("select status from imports where id = $1", [id]);
  return rows[0]?.status ?? "";
}

describe("a chunk that is reported again", () => {
  test("while it is being settled is settled once more: that settlement did not see its rows", async () => {
    await report();
    await settling(async (owner) => {
      const seen = await owner.unsettledChunks([id], SLICE);
      await report();
      expect(await owner.markSettled([{ id, retracted: false }], seen)).toEqual([id]);
      expect(await owner.finishComplete([id])).toEqual([]);
      expect(await owner.unsettledChunks([id], SLICE)).toMatchObject([{ importId: id, sequence: 0 }]);
    });
    expect(await statusNow()).toBe("importing");
    await settleAll();
    expect(await statusNow()).toBe("done");
  });

  test("after it was settled is due again, and counts once", async () => {
    await report();
    await settleAll();
    await report();
    expect((await dueImports(pg)).map((due) => due.id)).toContain(id);
    await settleAll();
    const { rows } = await pg.query("select events_total, chunks_settled from imports where id = $1", [id]);
    expect(rows).toEqual([{ events_total: "5", chunks_settled: 1 }]);
  });
});

describe("the time that an owner's exports are complete through", () => {
  test("stays at the start of an import that owes something, whatever is done to it", async () => {
    await report();
    const before = await readCompleteThrough(pg, ownerId);
    await abortImport(pg, { ownerId, id }, { retract: false });
    expect(await readCompleteThrough(pg, ownerId)).toBe(before);
    await abortImport(pg, { ownerId, id }, { retract: true });
    expect(await readCompleteThrough(pg, ownerId)).toBe(before);
  });

  test("goes back to the retraction of an import that owed nothing, not to its start", async () => {
    await report();
    await settleAll();
    const settled = await readCompleteThrough(pg, ownerId);
    await retractImport(pg, { ownerId, id });
    const owing = await readCompleteThrough(pg, ownerId);
    expect(owing > settled).toBe(true);
    expect(await readCompleteThrough(pg, ownerId)).toBe(owing);
  });
});

describe("the time at which what an owner's exports owed was last settled", () => {
  const lastSettled = async () => (await readExportState(pg, [ownerId])).lastSettled;

  test("is later after each import that is done, settled again, or retracted", async () => {
    const seen = [await lastSettled()];
    expect(seen).toEqual([""]);
    await report();
    expect(await lastSettled()).toBe("");
    await settleAll();
    seen.push(await lastSettled());
    await report();
    expect(await lastSettled()).toBe(seen.at(-1));
    await settleAll();
    seen.push(await lastSettled());
    await retractImport(pg, { ownerId, id });
    expect(await lastSettled()).toBe(seen.at(-1));
    await settling(async (owner) => {
      await owner.markSettled([{ id, retracted: true }], await owner.unsettledChunks([id], SLICE));
    });
    seen.push(await lastSettled());
    expect(seen).toEqual([...new Set(seen)].sort());
  });

  test("is that of an import that is aborted and owes nothing", async () => {
    await report();
    await settling(async (owner) => {
      await owner.markSettled([{ id, retracted: false }], await owner.unsettledChunks([id], SLICE));
    });
    expect(await lastSettled()).toBe("");
    await abortImport(pg, { ownerId, id }, { retract: false });
    expect(await lastSettled()).not.toBe("");
  });

  test("is the end of an erasure", async () => {
    await pg.query(
      `insert into erasures (id, owner_id, kind, stamp, imports, collectors, finished_at)
       values (gen_random_uuid(), $1, 'origin_id', 0, '{}', '{}', now())`,
      [ownerId],
    );
    expect(await lastSettled()).toMatch(/^20/);
  });
});

describe("the receipt stamp that an import begins at", () => {
  const start = async (owner = ownerId) => {
    const made = await insertImport(pg, targetOf(owner));
    if (made.repeated) throw new Error("an import without a key is never repeated");
    return made;
  };
  /** As if clocks had been ahead until now. */
  const AHEAD = Date.UTC(2100, 0, 1);

  test("is PostgreSQL's time", async () => {
    const { rows } = await pg.query<{ ms: string }>(
      "select floor(extract(epoch from now()) * 1000)::text as ms",
    );
    expect((await start()).stamp).toBeGreaterThanOrEqual(Number(rows[0]?.ms));
  });

  test("follows every stamp of the owner's earlier imports, also when clocks were set back since", async () => {
    await completeUpload(pg, { importId: (await start()).id, ownerId, stamp: AHEAD });
    const next = await start();
    expect(next.stamp).toBe(AHEAD + 1);
    const received = { bytes: 1, bytesUnpacked: 1, lines: 1, stamp: AHEAD + 500, logEnds: [] };
    await uploadStore(pg).renewLease(next.id, received);
    expect((await start()).stamp).toBe(AHEAD + 501);
    const [other] = await makeImport();
    expect((await start(other)).stamp).toBeLessThan(AHEAD);
  });

  test("is another one for each of many that start at once", async () => {
    await completeUpload(pg, { importId: id, ownerId, stamp: AHEAD });
    const stamps = (await Promise.all(Array.from({ length: 8 }, () => start()))).map(({ stamp }) => stamp);
    expect(stamps.sort()).toEqual(Array.from({ length: 8 }, (_, index) => AHEAD + 1 + index));
  });

  describe("in a group", () => {
    const asked = (owner: string, accountId = owner): AskedImport => ({
      ...{ ...targetOf(owner), id: randomUUID(), accountId },
      entry: undefined,
    });

    test("is another one for each, as far as so many may run", async () => {
      const [owner, running] = await makeImport();
      const received = { bytes: 1, bytesUnpacked: 1, lines: 1, stamp: AHEAD, logEnds: [] };
      await uploadStore(pg).renewLease(running, received);
      const stamps = await startImports(
        pg,
        Array.from({ length: ACTIVE_IMPORTS_MAX }, () => asked(owner)),
      );
      const started = Array.from({ length: ACTIVE_IMPORTS_MAX - 1 }, (_, nth) => AHEAD + 1 + nth);
      expect(stamps).toEqual([...started, undefined]);
    });

    test("is given to all but the one that cannot start", async () => {
      const [owner] = await makeImport();
      const start = groupStarts(pg);
      const all = [asked(owner), asked(owner), asked(owner, randomUUID()), asked(owner)];
      const starts = await Promise.allSettled(all.map((one) => start(one)));
      expect(starts.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    });
  });
});

test("inserts go on side by side; a recount waits for them, and they for it", async () => {
  const steps: string[] = [];
  const ends = new Map<string, () => void>();
  let isOver = false;
  // The pool closes once every connection is given back, also after a failure.
  onTestFinished(() => {
    isOver = true;
    for (const end of ends.values()) end();
  });
  const start = (name: string, kind: "whileInserting" | "whileRecounting") =>
    onConnection(pg, (connection) =>
      insertLock(connection)[kind](async () => {
        steps.push(name);
        await new Promise<void>((resolve) => (isOver ? resolve() : void ends.set(name, resolve)));
      }),
    );
  const end = (...names: string[]) => names.forEach((name) => ends.get(name)?.());
  const waiting = async () => {
    const { rows } = await pg.query("select from pg_locks where locktype = 'advisory' and not granted");
    return rows.length;
  };
  const before = await latestRecount(pg);
  const inserts = [start("one", "whileInserting"), start("other", "whileInserting")];
  await expect.poll(() => steps.sort()).toEqual(["one", "other"]);
  const recount = start("recount", "whileRecounting");
  await expect.poll(waiting).toBe(1);
  expect([steps, await latestRecount(pg)]).toEqual([["one", "other"], before]);
  end("one", "other");
  await Promise.all(inserts);
  await expect.poll(() => steps).toEqual(["one", "other", "recount"]);
  expect(await latestRecount(pg)).not.toBe(before);
  const later = start("later", "whileInserting");
  await expect.poll(waiting).toBe(1);
  expect(steps).toEqual(["one", "other", "recount"]);
  end("recount");
  await recount;
  await expect.poll(() => steps).toEqual(["one", "other", "recount", "later"]);
  end("later");
  await later;
});

test("a repeated start never answers an upload that is interrupted while it looks for its key", async () => {
  const idempotency = { ownerId, key: "nightly", path: `/v2/${ownerId}/import` };
  const target = targetOf(ownerId);
  const first = await insertImport(pg, target, { idempotency });
  const upload = { bytes: 0, bytesUnpacked: 0, lines: 0, stamp: 0, logEnds: [] };
  const interrupt = () => uploadStore(pg).interruptUpload(first.id, { reason: "it broke off", ...upload });
  const interruptedAfter = (statements: number): Postgres => {
    let run = 0;
    const query = async (text: string, values: unknown[]) => {
      const result = await pg.query(text, values);
      if (++run === statements) await interrupt();
      return result;
    };
    return { query } as Postgres;
  };
  await expect(findRepeatedImport(interruptedAfter(1), idempotency)).rejects.toMatchObject({
    code: "import-in-progress",
  });
  expect(await findRepeatedImport(pg, idempotency)).toBeUndefined();
  expect(await insertImport(pg, target, { idempotency })).toMatchObject({ repeated: false });
});
