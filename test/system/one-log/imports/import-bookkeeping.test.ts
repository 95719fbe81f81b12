import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readCompleteThrough } from "../../../../api/stores/imports/complete-through.js";
import { abortImport, retractImport } from "../../../../api/stores/imports/import-endings.js";
import { importProgress } from "../../../../api/stores/imports/import-progress.js";
import { insertImport } from "../../../../api/stores/imports/imports.js";
import { settlementStore } from "../../../../api/stores/imports/settlements.js";
import { uploadStore } from "../../../../api/stores/imports/uploads.js";
import type { ChunkOutcome } from "../../../../schemas/records/chunk-outcome.js";
import type { OwnerSettlement } from "../../../../schemas/records/settlement.js";
import { openTestPostgres, type TestPostgres } from "../../../support/api/management-api.js";

const SLICE = { eventsMax: 1_000, chunksMax: 10 };

let postgres: TestPostgres;
let pg: Pool;
let ownerId: string;
let id: string;

beforeAll(async () => {
  postgres = await openTestPostgres();
  pg = postgres.pg;
});

afterAll(() => postgres?.[Symbol.asyncDispose]());

beforeEach(async () => {
  [ownerId, id] = await makeImport();
});

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
  const made = await insertImport(pg, {
    ownerId: account,
    accountId: account,
    artifactKind: "any",
    artifactId: "",
  });
  await uploadStore(pg).completeUpload(made.id, { chunksTotal: 1, bytes: 1, lines: 1 });
  return [account, made.id];
}

const report = () =>
  importProgress(pg).putChunks([
    {
      importId: id,
      sequence: 0,
      receiptStamp: 1,
      eventsTotal: 5,
      eventsImported: 5,
      eventsFailed: 0,
      errors: [],
      warnings: [],
    } satisfies ChunkOutcome,
  ]);

async function settling(work: (owner: OwnerSettlement) => Promise<void>): Promise<void> {
  expect(await settlementStore(pg).asOnlySettlement(ownerId, work)).toBe(true);
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
    expect((await settlementStore(pg).dueImports()).map((due) => due.id)).toContain(id);
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
