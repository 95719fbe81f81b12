import { lastDays } from "../../../schemas/date-range.js";
import { type Query, path } from "../../web/address.js";
import type { Visit } from "../../web/page.js";

const WEEK = 7;

/** The first day on which a new company was seen, of those that the list is filtered by: `new=week`, or a day. */
export function newSince(query: URLSearchParams): string | undefined {
  const text = query.get("new") || undefined;
  return text === "week" ? lastDays(WEEK, new Date()).startDate : text;
}

/** The part of the page's address that says which companies are listed. */
function stateOf(query: URLSearchParams): Record<string, string | undefined> {
  const names = ["stage", "search", "package", "new", "sort", "after"];
  return Object.fromEntries(names.map((name) => [name, query.get(name) || undefined]));
}

/** The same as parameters of the API. */
export function askedBy(query: URLSearchParams): Query {
  const { new: _, search, ...state } = stateOf(query);
  return { ...state, search: search && termsOf(search), first_seen_from: newSince(query) };
}

/** The search field takes several, with commas between them. */
export function termsOf(search: string): string[] {
  return search
    .split(",")
    .map((term) => term.trim())
    .filter((term) => term !== "");
}

/** The first page of a list that differs from the one that is shown. */
export function addressWith({ href, owner, query }: Visit, changed: Query): string {
  return href(path`/o/${owner.name}/companies`, { ...stateOf(query), after: undefined, ...changed });
}
