-- Which addresses do these packages and days have, and which of them each version? A day of which one has no number gets no
-- set. An override changes the fingerprint with the addresses, because both are of the same rows.
-- `{days}` stands for the set of packages and days. Only their addresses are joined: a table of all would be large.
-- A day with over 1,000 versions has none by version: a row of millions would take more memory than the job may have.
INSERT INTO address_sets (package, date, fingerprint, numbers, addresses, people, versions, version_addresses, version_robots)
WITH many AS
(
  SELECT package, date FROM breakdown_values WHERE breakdown = 'version' AND (package, date) IN {days}
  GROUP BY package, date
  HAVING uniqExact(value_1) > 1000
)
SELECT package, date, sum(of_version.fingerprint) AS fingerprint, (SELECT max(number) FROM address_numbers) AS numbers,
  groupBitmapMergeState(addresses), groupBitmapMergeState(people),
  groupArrayIf(version, NOT has_many), groupArrayIf(addresses, NOT has_many), groupArrayIf(robots, NOT has_many)
FROM
(
  SELECT package, date, has_many, version, sum(counted.fingerprint) AS fingerprint,
    countIf(number = 0 AND total > 0) AS unnumbered,
    groupBitmapStateIf(number, total > 0) AS addresses, groupBitmapStateIf(number, total > automated_total) AS people,
    groupBitmapStateIf(number, total > 0 AND total <= automated_total) AS robots
  FROM
  (
    SELECT artifact AS package, date, (artifact, date) IN (SELECT package, date FROM many) AS has_many,
      if(has_many, '', package_version) AS version,
      reinterpretAsUInt64(endpoint_id) AS address, sum(sign) AS total, sumIf(sign, automated != '') AS automated_total,
      sum(sign * reinterpretAsInt64(sipHash64(endpoint_id, package_version, automated = ''))) AS fingerprint
    FROM events
    WHERE (artifact, date) IN {days} AND endpoint_id != toFixedString('', 16)
    GROUP BY package, date, has_many, version, address
  ) AS counted
  ANY LEFT JOIN
  (
    SELECT address, number FROM address_numbers
    WHERE address IN (SELECT address FROM uniques WHERE (package, date) IN {days} AND total > 0)
  ) AS numbered USING (address)
  GROUP BY package, date, has_many, version
) AS of_version
GROUP BY package, date
HAVING sum(unnumbered) = 0
