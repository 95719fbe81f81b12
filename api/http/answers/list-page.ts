import { Problem } from "../../../schemas/problem.js";
import type { AnswerContent, Parameter } from "../operation.js";
import type { ApiContext } from "../route.js";

const LIMIT_MAX = 1000;

/** The parameters that `listPage` reads, for the OpenAPI document. */
export const LIST_QUERY = {
  limit: {
    schema: { type: "integer", minimum: 1, maximum: LIMIT_MAX },
    description: "How many entries at most; all of them by default. `Link` then leads to the next",
  },
  after: {
    schema: { type: "string" },
    description: "Only what follows the entry with this id (or username) in the list's order",
  },
} as const satisfies Record<string, Parameter>;

/** The header that `listPage` sets. */
export const LIST_HEADERS: NonNullable<AnswerContent["headers"]> = {
  Link: {
    schema: { type: "string" },
    description: 'The URL of the next page, as `<...>; rel="next"`; absent on the last',
  },
};

/**
 * The entries of a v1 list that `limit` and `after` ask for: all of them by default, since these lists are bare arrays,
 * which cannot say that there is more. Sets `Link` (RFC 8288) where there is a next page. Throws `invalid-query`.
 */
export function listPage<Entry>(
  ctx: ApiContext,
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): readonly Entry[] {
  const { limit, after } = ctx.query;
  const max = limit === undefined ? entries.length : parseLimit(limit);
  const start = after === undefined ? 0 : 1 + indexOf(entries.map(keyOf), after);
  const page = entries.slice(start, start + max);
  const last = page.at(-1);
  if (last !== undefined && start + max < entries.length) putNext(ctx, keyOf(last));
  return page;
}

function parseLimit(text: string | string[]): number {
  const limit = typeof text === "string" && /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new Problem("invalid-query", `limit must be a whole number from 1 to ${LIMIT_MAX}.`);
}

function indexOf(keys: readonly string[], after: string | string[]): number {
  const index = typeof after === "string" ? keys.indexOf(after) : -1;
  if (index >= 0) return index;
  throw new Problem("invalid-query", "after must be the id of an entry that is in the list now.");
}

function putNext(ctx: ApiContext, after: string): void {
  const query = new URLSearchParams(ctx.querystring);
  query.set("after", after);
  ctx.set("Link", `<${ctx.state.publicBase}${ctx.path}?${query.toString()}>; rel="next"`);
}
