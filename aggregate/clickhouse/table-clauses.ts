/**
 * How one ClickHouse server spells what the migrations only name: `{summing(total)}`, say. Whatever depends on how
 * many servers keep a table is here and nowhere else.
 */
export const TABLE_CLAUSES: Clauses = {
  new_table: (name) => `TABLE IF NOT EXISTS ${name}`,
  new_view: (name) => `MATERIALIZED VIEW IF NOT EXISTS ${name}`,
  table: (name) => `TABLE ${name}`,
  /** Rows of one key become one, with the sums of some columns; a row whose sums are all 0 is deleted. */
  summing: (columns) => `SummingMergeTree(${columns.includes(",") ? `(${columns})` : columns})`,
  /** Rows of one key become one of them. */
  replacing: () => "ReplacingMergeTree",
  plain: () => "MergeTree",
  /**
   * Drops an insert that repeats one of the latest `inserts`. ClickHouse's own default is 0: none. A part that a merge left
   * empty must stay, because ClickHouse forgets the tokens of a part that it removes.
   */
  deduplication: (inserts) => `non_replicated_deduplication_window = ${inserts}, remove_empty_parts = 0`,
};

export type Clauses = Readonly<Record<string, (argument: string) => string>>;

/** Puts clauses in place of their names, `{name}` or `{name(argument)}`; those it does not know stay as they are. */
export function fillClauses(text: string, clauses: Clauses): string {
  return text.replaceAll(/\{(\w+)(?:\(([^)]*)\))?\}/g, (whole, name: string, argument = "") =>
    Object.hasOwn(clauses, name) ? (clauses[name]?.(argument as string) ?? whole) : whole,
  );
}
