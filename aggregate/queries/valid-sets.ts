/**
 * SQL that selects each package and day of `totals`: `package`, `date`, `amount`, `fingerprint`, `set` of its row of
 * address_sets that holds as `held`, and that row's `numbers`. Both are empty where none holds. The statement needs
 * ONE_SNAPSHOT.
 * @param where condition without other columns than `package` and `date`
 * @param amounts `amount` is SQL of columns of `totals`, `set` of columns of address_sets
 */
export function daysWithSets(where: string, { amount, set }: { amount: string; set: string }): string {
  return `SELECT package, date, amount, fingerprint, numbers, held
FROM
(
  SELECT package, date, fingerprint, numbers, ${set} AS held
  FROM address_sets
  WHERE ${where} AND numbers <= (SELECT max(number) FROM address_numbers)
) AS sets
RIGHT ANY JOIN
(
  SELECT package, date, sum(${amount}) AS amount, sum(fingerprint) AS fingerprint
  FROM totals
  WHERE ${where}
  GROUP BY package, date
) AS days USING (package, date, fingerprint)`;
}

/** SQL of a row of `daysWithSets`: it has addresses, and no set holds. */
export const IS_STALE = "(fingerprint != 0 AND numbers = 0)";

/**
 * SQL: a day of which retention has not removed the events. Holds for none where there are no events. ClickHouse knows both
 * numbers of a table without reading it.
 */
export const IS_KEPT = "date >= (SELECT if(count() = 0, NULL, min(date)) FROM events)";

/** Rows answer sooner than sets where more is stale: an address without a set takes six times as long with them as without. */
export const STALE_SHARE = 6;
