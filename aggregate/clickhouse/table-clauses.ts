import { LOG_DAYS } from "../../schemas/records/event-log.js";

/**
 * How the statements of the migrations are spelled, which only name `{summing(total)}`, say. Whatever depends on how many
 * servers keep a table is here and nowhere else.
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
   * empty must stay, because ClickHouse forgets the tokens of a part that it removes. Replicas also forget by age, counted
   * from the newest insert: twice the time that the event log keeps a record is longer than any repeat waits. A table of
   * one server takes these settings too, and has no use for them until it is replicated.
   */
  deduplication: (inserts) =>
    `non_replicated_deduplication_window = ${inserts}, remove_empty_parts = 0, ` +
    `replicated_deduplication_window = ${inserts}, replicated_deduplication_window_seconds = ${2 * LOG_DAYS * 24 * 60 * 60}`,
};

/** The same where several servers keep a table. Its place in Keeper and the server's name there are the server's own. */
export const REPLICATED_CLAUSES: Clauses = {
  ...TABLE_CLAUSES,
  ...Object.fromEntries(
    (["summing", "replacing", "plain"] as const).map((engine) => [
      engine,
      (argument: string) => replicated(TABLE_CLAUSES[engine]?.(argument) ?? ""),
    ]),
  ),
};

/** The engine of a table that several servers keep. */
export function replicated(engine: string): string {
  return `Replicated${engine}`;
}

export type Clauses = Readonly<Record<string, (argument: string) => string>>;

/** Puts clauses in place of their names, `{name}` or `{name(argument)}`; those it does not know stay as they are. */
export function fillClauses(text: string, clauses: Clauses): string {
  return text.replaceAll(/\{(\w+)(?:\(([^)]*)\))?\}/g, (whole, name: string, argument = "") =>
    Object.hasOwn(clauses, name) ? (clauses[name]?.(argument as string) ?? whole) : whole,
  );
}
