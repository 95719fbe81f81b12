import { access, reaches } from "../../base/access/access.js";
import { type ListedPackage, readPackages } from "../../base/access/visible-packages.js";
import { answerArray } from "../../base/http/answers/answer-array.js";
import { entityTag } from "../../base/http/answers/headers.js";
import { LIST_QUERY, listPage } from "../../base/http/answers/paging.js";
import { limitWork } from "../../base/http/limit-work.js";
import type { Parameters } from "../../base/http/answers/query-parameters.js";
import type { Call } from "../../base/http/route.js";
import type { Action } from "../../base/access/resources.js";
import type { Postgres } from "../../base/postgres/query.js";
import { packageRecord } from "./packages.js";

export const PACKAGE_LIST_QUERY = {
  ...LIST_QUERY,
  short: {
    schema: { type: "boolean", default: false },
    description: "Omit the long descriptions, which can have up to 100,000 characters each",
  },
} as const satisfies Parameters;

interface PackageList {
  /** Equal for lists that are equal at any moment. */
  key: string;
  list: () => Promise<ListedPackage[]>;
}

/** Answers those of the packages that the caller is not blocked from and that the token reaches. */
type AnswerPackages = (call: ListCall, asked: PackageList) => Promise<void>;
type ListCall = Pick<Call<Action, typeof PACKAGE_LIST_QUERY>, "ctx" | "account" | "query">;

/** Two parts of lists are read at once, one of each account; a few are kept for equal lists. */
const LIMITS = {
  atOnce: { perKey: 1, inAll: 2 },
  keptMax: 16,
  remedy: "Use limit to get the list in parts.",
};
/** Of the long descriptions and the rest of what a part has. */
const PART_BYTES = 256 * 1024;
/** About what a package has beside its long description. */
const REST_BYTES = 1024;

/** Lists that are asked for at the same time share what is read, and read their texts while they are sent. */
export function openPackageLists(pg: Postgres): AnswerPackages {
  const build = limitWork(LIMITS);

  return async ({ ctx, account, query }, { key, list }) => {
    const texts = query.short ? "short" : "whole";
    const caller = account.id;
    const rows = await build(ctx, { caller, key }, list);
    // Tokens of one account share what is read, and each has its own part of it.
    const isSeen = (row: ListedPackage) =>
      reaches(account.limited, row.ownerId) && access(row, "packages.read", row) === "allowed";
    const readable = rows.filter(isSeen);
    const page = listPage({ ctx, query }, readable, ({ id }) => id);
    // Any change of what is shown is a change of these.
    const tagOf = (part: readonly ListedPackage[]) =>
      entityTag([texts, ...part.map(({ id, owner, updatedAt }) => [id, owner, updatedAt])]);

    async function* readParts(): AsyncGenerator<Buffer> {
      for (const part of inParts(page, ({ textBytes }) => REST_BYTES + (texts === "whole" ? textBytes : 0)))
        yield build<Buffer>(ctx, { caller, key: tagOf(part) }, (_, reuse) => reuse("", () => readPart(part)));
    }

    async function readPart(part: readonly ListedPackage[]): Promise<Buffer> {
      const ids = part.map(({ id }) => id);
      const read = await readPackages(pg, { accountId: account.id, ids, texts });
      const byId = new Map(read.map((row) => [row.id, row]));
      const records = ids.flatMap((id) => byId.get(id) ?? []).map(packageRecord);
      return Buffer.from(records.map((record) => JSON.stringify(record)).join(","));
    }

    await answerArray(ctx, readParts(), tagOf(page));
  };
}

function* inParts<Entry>(entries: readonly Entry[], bytesOf: (entry: Entry) => number): Generator<Entry[]> {
  let part: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    part.push(entry);
    bytes += bytesOf(entry);
    if (bytes < PART_BYTES) continue;
    yield part;
    [part, bytes] = [[], 0];
  }
  if (part.length > 0) yield part;
}
