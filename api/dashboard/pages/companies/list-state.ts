import { lastDays } from "../../../../schemas/date-range.js";
import { type Query, path } from "../../address.js";
import type { Visit } from "../../page.js";

const WEEK = 7;

/** The part of the page's address that says which companies are listed. */
function stateOf(query: URLSearchParams): Query {
  const names = ["stage", "search", "package", "new", "sort", "after"];
  return Object.fromEntries(names.map((name) => [name, query.get(name) || undefined]));
}

/** The same as parameters of the API. */
export function askedBy(query: URLSearchParams): Query {
  const { new: isNew, ...state } = stateOf(query);
  const firstSeen = isNew === undefined ? undefined : lastDays(WEEK, new Date()).startDate;
  return { ...state, first_seen_from: firstSeen };
}

/** The first page of a list that differs from the one that is shown. */
export function addressWith({ href, owner, query }: Visit, changed: Query): string {
  return href(path`/o/${owner.name}/companies`, { ...stateOf(query), after: undefined, ...changed });
}
