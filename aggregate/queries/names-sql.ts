import { isUuid } from "../../schemas/formats.js";
import { textLiteral } from "./sql-literals.js";

/** The UUID of something, and what it is called today. */
export interface NamedId {
  readonly id: string;
  readonly name: string;
}

/**
 * ClickHouse's expression of the name that belongs to an id, which `idSql` gives as lower-case text; empty for other
 * ids. One name is a constant: looking it up for every row would take time.
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
