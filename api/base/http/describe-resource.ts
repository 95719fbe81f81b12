import type { Resource, Scoped } from "./resource.js";

/** Texts of an operation, where the usual ones do not fit. */
export interface Texts {
  id?: string;
  summary?: string;
  description?: string;
}

export function pathOf({ path, name }: { path: string; name: string }): string {
  return `${path}/:${name}`;
}

export function locationOf({ path }: { path: string }, record: object, location?: "list"): string {
  const { id = "", owner = "" } = record as { id?: string; owner?: string };
  const list = path.replace(":owner", encodeURIComponent(owner));
  return location === "list" ? list : `${list}/${id}`;
}

export function answerOf<Record extends object>({
  name,
  schema,
  example,
}: Pick<Resource<never, Record>, "name" | "schema" | "example">) {
  return { description: `The ${name}`, schema, example };
}

export function ofScope({ scope }: Pick<Resource<never, object>, "scope">) {
  const { path, query, problems } = scope ?? {};
  return { ...(path && { path }), ...(query && { query }), ...(problems && { problems }) };
}

export function ofRecord({ parameters, problems }: Pick<Resource<never, object>, "parameters" | "problems">) {
  return { ...(parameters && { path: parameters }), ...(problems && { problems }) };
}

export function textsOf({ id, summary, description }: Texts) {
  return { ...(id && { id }), ...(summary && { summary }), ...(description && { description }) };
}

/** `listPackageRoutes`, with the title of the scope. */
export function idOf(title: string | undefined, name: string): string {
  return `${title ?? ""}${titled(name)}`;
}

export function titled(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

export function withArticle(name: string): string {
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}

export async function shown<Record extends object, S extends Scoped>(
  { show }: Pick<Resource<never, Record, never, S>, "show">,
  owner: S,
  records: readonly Record[],
): Promise<readonly object[]> {
  return show === undefined ? records : show(owner, records);
}
