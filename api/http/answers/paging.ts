import type { ParsedUrlQuery } from "node:querystring";
import { isUuid } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import type { JsonSchema, Parameter } from "../operation.js";
import type { ApiContext } from "../route.js";
import type { Page } from "../../postgres/page.js";

const PER_PAGE_DEFAULT = 100;
const PER_PAGE_MAX = 1000;

/** The parameters that `parsePage` reads, for the OpenAPI document. */
export const PAGE_QUERY: Readonly<Record<string, Parameter>> = {
  after: {
    schema: { type: "string", format: "uuid" },
    description: "Only what is older than the entry with this id",
  },
  per_page: {
    schema: { type: "integer", minimum: 1, maximum: PER_PAGE_MAX, default: PER_PAGE_DEFAULT },
    description: "How many entries at most",
  },
};

/** The schema of the object that `pageBody` makes. */
export function pageSchema(name: string, record: JsonSchema): JsonSchema {
  const next = { type: "string", format: "uri", description: "Where the next page is; absent on the last" };
  return {
    type: "object",
    required: [name],
    additionalProperties: false,
    properties: { [name]: { type: "array", items: record }, next },
  };
}

/**
 * Parses `after` and `per_page`. Throws `invalid-query` if `after` is no id, or `per_page` is not from 1 to 1000. Ids
 * are UUIDs by default.
 */
export function parsePage(query: ParsedUrlQuery, isId: (text: string) => boolean = isUuid): Page {
  const perPage = parsePerPage(query["per_page"]);
  const { after } = query;
  if (after === undefined) return { perPage };
  if (typeof after === "string" && isId(after)) return { after, perPage };
  throw new Problem("invalid-query", "after must be the id of an entry of the list.");
}

/**
 * The answer's object, `{[name]: records, next?}`; `next` is the whole URL of the next page. There is a next page if
 * `rows` holds one entry more than the page, or if `more` says so.
 */
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

function parsePerPage(text: string | string[] | undefined): number {
  if (text === undefined) return PER_PAGE_DEFAULT;
  const perPage = typeof text === "string" && /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (perPage >= 1 && perPage <= PER_PAGE_MAX) return perPage;
  throw new Problem("invalid-query", `per_page must be a whole number from 1 to ${PER_PAGE_MAX}.`);
}
