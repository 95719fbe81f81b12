/**
 * SQL that selects each package and day of `totals`: `package`, `date`, `amount`, `fingerprint`, the set of its row of
 * address_sets that holds as `held`, and that row's `numbers`. Both are empty where none holds. The statement needs
 * ONE_SNAPSHOT.
 * @param where condition without other columns than `package` and `date`
 */
export function daysWithSets(
  where: string,
  { amount, set }: { amount: string; set: "addresses" | "people" },
): string {
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
