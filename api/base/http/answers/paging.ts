import { Problem } from "../../../../schemas/problem.js";
import type { AnswerContent, ApiContext } from "../route.js";
import type { JsonSchema, Parameters, QueryOf } from "./query-parameters.js";
import type { Page } from "../../postgres/query.js";

const PER_PAGE_DEFAULT = 100;
const PER_PAGE_MAX = 1000;

export const PAGE_QUERY = {
  after: {
    schema: { type: "string", format: "uuid" },
    description: "Return entries older than the one with this id",
    sentence: "must be the id of an entry in the list",
  },
  per_page: {
    schema: { type: "integer", minimum: 1, maximum: PER_PAGE_MAX, default: PER_PAGE_DEFAULT },
    description: "Maximum number of entries",
  },
} as const satisfies Parameters;

interface DescribedPage {
  name: string;
  record: JsonSchema;
  example: unknown;
  description?: string;
  title?: string;
}

export function pageAnswer({
  name,
  record,
  example,
  title,
  description = "A page of entries",
}: DescribedPage) {
  const next = {
    type: "string",
    format: "uri",
    description: "URL of the next page. Absent on the last page",
  };
  const schema = {
    ...(title !== undefined && { title }),
    type: "object",
    required: [name],
    additionalProperties: false,
    properties: { [name]: { type: "array", items: record }, next },
  };
  return { description, schema, example: { [name]: [example] } };
}

export function pageOf({ after, per_page: perPage }: QueryOf<typeof PAGE_QUERY>): Page {
  return after === undefined ? { perPage } : { after, perPage };
}

/** `{[name]: records, next?}`. A next page exists if `rows` has one entry more than the page, or `more` says so. */
export function pageBody<Row extends { id: string }, Entry>(
  ctx: ApiContext,
  {
    name,
    rows,
    page,
    record,
    more = rows.length > page.perPage,
  }: { name: string; rows: readonly Row[]; page: Page; record: (row: Row) => Entry; more?: boolean },
): Record<string, Entry[] | string> {
  const shown = rows.slice(0, page.perPage);
  const last = shown.at(-1);
  const body: Record<string, Entry[] | string> = { [name]: shown.map(record) };
  if (more && last) body["next"] = nextUrl(ctx, { after: last.id, perPage: page.perPage });
  return body;
}

/** Keeps all other query parameters. An answer longer than any page that can be asked for has no `per_page` in its link. */
function nextUrl(ctx: ApiContext, { after, perPage }: Required<Page>): string {
  const query = new URLSearchParams(ctx.querystring);
  query.set("after", after);
  if (perPage <= PER_PAGE_MAX) query.set("per_page", String(perPage));
  return `${ctx.state.publicBase}${ctx.path}?${query.toString()}`;
}

const LIMIT_MAX = 1000;

export const LIST_QUERY = {
  limit: {
    schema: { type: "integer", minimum: 1, maximum: LIMIT_MAX },
    description:
      "Maximum number of entries (default: all). With a limit, `Link` contains the URL of the next page",
  },
  after: {
    schema: { type: "string" },
    description: "Return entries that follow the one with this id (or username) in the list",
  },
} as const satisfies Parameters;

export function listAnswer(description: string, record: JsonSchema, example: unknown): AnswerContent {
  const link = 'URL of the next page, as `<...>; rel="next"`. Absent on the last page';
  return {
    description,
    schema: { type: "array", items: record },
    example: [example],
    headers: { Link: { schema: { type: "string" }, description: link } },
  };
}

/**
 * The entries of a v1 list that `limit` and `after` ask for: all of them by default, since these lists are bare arrays,
 * which cannot say that there is more. Sets `Link` (RFC 8288) where there is a next page. Throws `invalid-query`.
 */
export function listPage<Entry>(
  { ctx, query: { limit, after } }: ListCall,
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): readonly Entry[] {
  const max = limit ?? entries.length;
  const start = after === undefined ? 0 : 1 + indexOf(entries.map(keyOf), after);
  const page = entries.slice(start, start + max);
  const last = page.at(-1);
  if (last !== undefined && start + max < entries.length) putNext(ctx, keyOf(last));
  return page;
}

interface ListCall {
  ctx: ApiContext;
  query: QueryOf<typeof LIST_QUERY>;
}

function indexOf(keys: readonly string[], after: string): number {
  const index = keys.indexOf(after);
  if (index >= 0) return index;
  throw new Problem("invalid-query", "after must be the id of an entry in the current list.");
}

function putNext(ctx: ApiContext, after: string): void {
  const query = new URLSearchParams(ctx.querystring);
  query.set("after", after);
  ctx.set("Link", `<${ctx.state.publicBase}${ctx.path}?${query.toString()}>; rel="next"`);
}
