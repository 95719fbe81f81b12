-- Which addresses of these packages and days have no number yet? Gives them the next ones. An address that overrides have
-- left without downloads gets none.
-- `{days}` stands for the set of packages and days. Only their addresses are looked up: a set of all would be large.
INSERT INTO address_numbers (address, number)
WITH asked AS
(
  SELECT address FROM uniques WHERE (package, date) IN {days} GROUP BY package, date, address HAVING sum(total) > 0
)
SELECT address, toUInt32((SELECT max(number) FROM address_numbers) + row_number() OVER ())
FROM (SELECT DISTINCT address FROM asked)
WHERE address NOT IN (SELECT address FROM address_numbers WHERE address IN (SELECT address FROM asked))
