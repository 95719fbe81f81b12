import { access } from "../access/access.js";
import type { Parameter } from "../http/operation.js";
import type { ApiContext } from "../http/route.js";
import type { Account } from "../access/caller.js";
import { packageRecord } from "./packages.js";
import { readPackages, type ListedPackage } from "../access/visible-packages.js";
import type { Postgres } from "../postgres/query.js";
import { answerArray } from "../http/answers/answer-array.js";
import { entityTag } from "../http/answers/entity-tag.js";
import { LIST_QUERY, listPage } from "../http/answers/list-page.js";
import { parseFlag } from "../http/answers/parse-flag.js";

/** The parameters that `answerPackages` reads, for the OpenAPI document. */
export const PACKAGE_LIST_QUERY: Readonly<Record<string, Parameter>> = {
  ...LIST_QUERY,
  short: {
    schema: { type: "boolean", default: false },
    description: "Whether to leave out the long descriptions, of up to 100,000 characters each",
  },
};

/** Packages whose texts are in memory at once. */
const READ_AT_ONCE = { whole: 20, short: 500 };

/** Answers those of the packages that the caller is not blocked from, with their texts read while they are sent. */
export async function answerPackages(
  ctx: ApiContext,
  { pg, account, rows }: { pg: Postgres; account: Account; rows: readonly ListedPackage[] },
): Promise<void> {
  const texts = parseFlag(ctx.query, "short") ? "short" : "whole";
  const readable = rows.filter((row) => access(row, "packages.read", row) === "allowed");
  const page = listPage(ctx, readable, ({ id }) => id);
  // Any change of what is shown is a change of these.
  const shown = page.map(({ id, owner, updatedAt }) => [id, owner, updatedAt]);
  await answerArray(ctx, readRecords(), entityTag([texts, ...shown]));

  async function* readRecords() {
    for (let at = 0; at < page.length; at += READ_AT_ONCE[texts]) {
      const ids = page.slice(at, at + READ_AT_ONCE[texts]).map(({ id }) => id);
      const read = await readPackages(pg, { accountId: account.id, ids, texts });
      const byId = new Map(read.map((row) => [row.id, row]));
      yield ids.flatMap((id) => byId.get(id) ?? []).map(packageRecord);
    }
  }
}
