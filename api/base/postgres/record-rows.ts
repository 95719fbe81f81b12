import { type Postgres, query, utc } from "./query.js";

interface RecordSchema {
  properties: Readonly<Record<string, { readonly format?: string } & object>>;
}

/** Statements name columns only from schemas and from the program itself; values are parameters. */
type Row = Readonly<Record<string, unknown>>;

/** `short_description` for the field `shortDescription`. */
function columnOf(field: string): string {
  const column = field.replaceAll(/([a-z])([A-Z]+)/g, "$1_$2").toLowerCase();
  if (!/^[a-z][a-z0-9_]*$/.test(column)) throw new Error(`no column has the name ${column}`);
  return column;
}

/** The columns of the fields that a body can have. An omitted field is null. */
export function columnsOf({ properties }: RecordSchema, body: object): Row {
  const sent = body as Row;
  return Object.fromEntries(Object.keys(properties).map((field) => [columnOf(field), sent[field] ?? null]));
}

/**
 * SQL: the fields of a record, from the columns of the row `of`. `others` has the SQL of fields that are not in a column of
 * their name.
 */
export function selectList(
  { properties }: RecordSchema,
  of: string,
  others: Readonly<Record<string, string>> = {},
): string {
  const fields = Object.entries(properties).map(([field, { format }]) => {
    const column = `${of}.${columnOf(field)}`;
    return `${others[field] ?? READ[format ?? ""]?.(column) ?? column} as "${field}"`;
  });
  return fields.join(", ");
}

const READ: Readonly<Record<string, (column: string) => string>> = {
  "date-time": utc,
  date: (column) => `${column}::text`,
};

export async function insertRow(pg: Postgres, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row).map(columnOf);
  const values = columns.map((_, at) => `$${at + 1}`);
  const text = `insert into ${table} (${columns.join(", ")}) values (${values.join(", ")})`;
  await query(pg, text, Object.values(row));
}

/** Also sets `updated_at`. */
export async function updateRow(
  pg: Postgres,
  table: string,
  { id, ...row }: Row & { id: string },
): Promise<void> {
  const sets = Object.keys(row).map((column, at) => `${columnOf(column)} = $${at + 2}`);
  const text = `update ${table} set ${sets.join(", ")}, updated_at = now() where id = $1`;
  await query(pg, text, [id, ...Object.values(row)]);
}
