import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { Account } from "../../../../../api/base/access/access.js";
import type { ListedPackage } from "../../../../../api/base/access/visible-packages.js";
import type { ApiContext } from "../../../../../api/base/http/route.js";
import { openPackageLists } from "../../../../../api/features/packages/package-lists.js";
import type { Postgres } from "../../../../../api/base/postgres/query.js";

const TEXT = "x".repeat(100_000);

const LISTED: ListedPackage[] = Array.from({ length: 30 }, (_, index) => {
  const owner = index % 2 === 0 ? "acme" : "other";
  return {
    ...{ id: `p${index}`, name: `web-${index}`, libraryType: "other", textBytes: TEXT.length },
    ...{ ownerId: owner, owner, ownerKind: "organization", exportEnabled: false },
    ...{ standing: "member", level: undefined, updatedAt: "2026-08-04T13:58:26.021037Z" },
  };
});
const IDS = LISTED.map(({ id }) => id);

/** Counts the lists, which ids' texts were read, and how much is read at once. */
function openStore() {
  const seen = { lists: 0, texts: [] as string[], atOnce: 0, atOnceMax: 0 };
  async function reading<T>(answer: () => T): Promise<T> {
    seen.atOnceMax = Math.max(seen.atOnceMax, ++seen.atOnce);
    await new Promise(setImmediate);
    seen.atOnce -= 1;
    return answer();
  }
  const query = (_text: string, [, ids]: [string, string[]]) =>
    reading(() => {
      seen.texts.push(...ids);
      const rows = LISTED.filter(({ id }) => ids.includes(id));
      return { rows: rows.map((row) => ({ ...row, longDescription: TEXT })) };
    });
  const list = () =>
    reading(() => {
      seen.lists += 1;
      return LISTED;
    });
  return { answer: openPackageLists({ query } as unknown as Postgres), list, seen };
}

const ALL = { limit: undefined, after: undefined, short: false };

/** The ids in the list that a caller is sent. */
async function listFor(
  { answer, list }: ReturnType<typeof openStore>,
  account: Partial<Account>,
): Promise<string[]> {
  const ctx = {
    ...{ state: { left: new AbortController().signal }, body: undefined as unknown },
    ...{ set: () => undefined, get: () => "", vary: () => undefined, acceptsEncodings: () => "identity" },
  };
  const call = { ctx: ctx as unknown as ApiContext, account: account as Account, query: ALL };
  await answer(call, { key: account.id ?? "", list });
  const packages = (await json((ctx.body as { rows: AsyncIterable<Buffer> }).rows)) as { uuid: string }[];
  return packages.map(({ uuid }) => uuid);
}

test("equal lists of packages that are asked for at once are read once, whoever asks", async () => {
  const store = openStore();
  const callers = ["ada", "ada", "ada", "bob", "bob", "cyd"];
  const lists = await Promise.all(callers.map((id) => listFor(store, { id })));
  for (const ids of lists) expect(ids).toEqual(IDS);
  expect(store.seen.lists).toBe(3);
  expect(store.seen.texts).toEqual(IDS);
  expect(store.seen.atOnceMax).toBe(2);
});

test("tokens of one account share what is read, and each lists only what it reaches", async () => {
  const store = openStore();
  const limited: Account["limited"] = { id: "t", name: "ci", scopes: [], ownerId: "acme" };
  const lists = await Promise.all([listFor(store, { id: "ada" }), listFor(store, { id: "ada", limited })]);
  expect(lists).toEqual([IDS, IDS.filter((_, index) => index % 2 === 0)]);
  expect(store.seen.lists).toBe(1);
});
