-- Which addresses do these packages and days have? A day of which one has no number gets no set. An override changes the
-- fingerprint with the addresses, because both are of the same rows.
-- `{days}` stands for the set of packages and days. Only their addresses are joined: a table of all would be large.
INSERT INTO address_sets (package, date, fingerprint, numbers, addresses, people)
SELECT package, date, sum(toInt64(address) * (total + automated_total * -7046029254386353131)) AS fingerprint,
  (SELECT max(number) FROM address_numbers) AS numbers,
  groupBitmapStateIf(number, total > 0), groupBitmapStateIf(number, total > automated_total)
FROM
(
  SELECT package, date, address, sum(uniques.total) AS total, sum(uniques.automated_total) AS automated_total
  FROM uniques
  WHERE (package, date) IN {days}
  GROUP BY package, date, address
) AS counted
ANY LEFT JOIN
(
  SELECT address, number FROM address_numbers
  WHERE address IN (SELECT address FROM uniques WHERE (package, date) IN {days} AND total > 0)
) AS numbered USING (address)
GROUP BY package, date
HAVING countIf(number = 0 AND (total > 0 OR total > automated_total)) = 0
