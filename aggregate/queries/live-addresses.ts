import { daysWithSets, IS_STALE } from "./valid-sets.js";

/** Settings of a statement that reads a table several times, in sets as well. */
export const ONE_SNAPSHOT = {
  // Every part of it reads the same rows of one server, whatever is inserted meanwhile.
  enable_shared_storage_snapshot_in_query: 1,
  // Only small sets are looked up in an index. A large one would keep its elements for that, in nearly twice the memory.
  use_index_for_in_with_subqueries_max_values: "10000",
} as const;

/**
 * SQL that selects these columns for each address of a package and day that is live: `amount` adds up to more than nothing.
 * The same one may come several times, because an address has several rows until ClickHouse has merged them. Only addresses
 * with a removed version are added up. The list of them has 32 bits of each, so it may name others too, which are then
 * added up as well. To add up all rows takes four times the processor time.
 * The statement needs ONE_SNAPSHOT.
 * @param where condition on the rows of `uniques`, without other columns than `package` and `date`
 */
export function liveAddresses(columns: string, { where, amount }: { where: string; amount: string }): string {
  const removed = `SELECT toUInt32(address) FROM uniques
WHERE ${where} AND (total < 0 OR automated_total < 0 OR total < automated_total)`;
  return `SELECT ${columns}
FROM uniques
WHERE ${where} AND ${amount} > 0 AND toUInt32(address) NOT IN (${removed})
UNION ALL
SELECT ${columns}
FROM uniques
WHERE ${where} AND toUInt32(address) IN (${removed})
GROUP BY package, date, address
HAVING sum(${amount}) > 0`;
}

/** SQL that selects how many distinct addresses each package had on each day: `package`, `date`, `addresses`. Needs ONE_SNAPSHOT. */
export function dailyAddresses(where: string): string {
  const days = daysWithSets(where, { amount: "total", set: "addresses" });
  const stale = `${where} AND (package, date) IN (SELECT package, date FROM (${days}) WHERE ${IS_STALE})`;
  return `SELECT package, date, bitmapCardinality(held) AS addresses
FROM (${days})
WHERE numbers > 0
UNION ALL
SELECT package, date, uniqExact(address) AS addresses
FROM (${liveAddresses("package, date, address", { where: stale, amount: "total" })})
GROUP BY package, date`;
}
