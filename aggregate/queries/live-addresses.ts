/** Every part of a statement reads the same rows of a table, whatever is inserted meanwhile. */
export const ONE_SNAPSHOT = { enable_shared_storage_snapshot_in_query: 1 } as const;

/**
 * SQL that selects these columns for each address of a package and day that is live: `amount` adds up to more than nothing.
 * The same one may come several times. An address has several rows until ClickHouse has merged them, and only one with a
 * removed version can add up to nothing: only such ones are added up, and 32 bits tell them apart, because a set of whole
 * numbers takes longer. To add up all rows takes four times the processor time.
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
