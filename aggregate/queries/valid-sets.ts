/**
 * SQL from `FROM` on that selects the rows of address_sets that hold. There may be several of a day, which are equal then.
 * The statement needs ONE_SNAPSHOT, as that of `staleDays`.
 * @param where condition without other columns than `package` and `date`
 */
export function validSets(where: string): string {
  return `FROM address_sets
WHERE ${where} AND ${HAS_NUMBERS} AND (package, date, fingerprint) IN (SELECT package, date, sum(fingerprint) FROM totals WHERE ${where} GROUP BY package, date)`;
}

/** SQL that selects the packages and days with addresses for which no row of address_sets holds. */
export function staleDays(where: string, columns = "package, date"): string {
  return `SELECT ${columns}
FROM (SELECT package, date, sum(total) AS downloads, sum(fingerprint) AS fingerprint FROM totals WHERE ${where} GROUP BY package, date)
WHERE fingerprint != 0
  AND (package, date, fingerprint) NOT IN (SELECT package, date, fingerprint FROM address_sets WHERE ${where} AND ${HAS_NUMBERS})`;
}

const HAS_NUMBERS = "numbers <= (SELECT max(number) FROM address_numbers)";
