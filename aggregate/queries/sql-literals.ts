import { isCalendarDate, isUuid } from "../../schemas/formats.js";

/** A parameter travels in the URL, where 128 KiB are the most. Throws for anything else. */
export function uuidsLiteral(uuids: readonly string[]): string {
  const wrong = uuids.find((uuid) => !isUuid(uuid));
  if (wrong !== undefined) throw new Error(`not a UUID: ${wrong}`);
  return `CAST([${uuids.map((uuid) => `'${uuid}'`).join(",")}] AS Array(UUID))`;
}

/** A UUID and a day, `YYYY-MM-DD`. */
export type PackageDate = readonly [string, string];

/** Throws for anything else. */
export function packageDatesLiteral(days: readonly PackageDate[]): string {
  const wrong = days.find(([id, date]) => !isUuid(id) || !isCalendarDate(date));
  if (wrong !== undefined) throw new Error(`not a UUID and a day: ${wrong.join(" ")}`);
  const pairs = days.map(([id, date]) => `('${id}','${date}')`);
  return `CAST([${pairs.join(",")}] AS Array(Tuple(UUID, Date)))`;
}

/** In hexadecimal digits, so that nothing in the text can be read as a part of the query. */
export function textLiteral(text: string): string {
  return `unhex('${Buffer.from(text).toString("hex")}')`;
}

/** A name of our own in the text of a query: of a table, column, field or breakdown. Throws for anything else. */
export function sqlName(name: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`not a name for a query: ${name}`);
  return name;
}

/** The names of lists or breakdowns as texts, with commas between. */
export function nameLiterals(named: readonly { name: string }[]): string {
  return named.map(({ name }) => `'${sqlName(name)}'`).join(", ");
}

/** A name of the operator's, such as of a database, where a statement takes no parameters. */
export function quotedName(name: string): string {
  return `\`${name.replaceAll(/[\\`]/g, "\\$&")}\``;
}

/** A text of the operator's, where a statement takes no parameters. */
export function quotedText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}

export interface NamedId {
  readonly id: string;
  readonly name: string;
}

/**
 * The name that belongs to the id `idSql`, lower-case text; empty for other ids. One name is a constant:
 * looking it up for every row would take time.
 */
export function namesSql(idSql: string, named: readonly NamedId[]): string {
  const [first = "", ...others] = new Set(named.map(({ name }) => name));
  if (others.length === 0) return textLiteral(first);
  const wrong = named.find(({ id }) => !isUuid(id));
  if (wrong !== undefined) throw new Error(`not a UUID: ${wrong.id}`);
  const ids = named.map(({ id }) => `'${id.toLowerCase()}'`).join(",");
  const names = named.map(({ name }) => textLiteral(name)).join(",");
  return `transform(${idSql}, [${ids}], [${names}], '')`;
}
