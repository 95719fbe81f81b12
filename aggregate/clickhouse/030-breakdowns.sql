-- How often was a package downloaded on a day, in all and by each breakdown?
-- An override takes one from the values and the day of the earlier version and adds one to those of the later.
CREATE {new_table(totals)}
(
  package UUID,
  date    Date,
  total   Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date)
SETTINGS {deduplication(10000)};

CREATE {new_view(totals_view)} TO totals AS
SELECT artifact AS package, date, sum(sign) AS total
FROM events
WHERE kind = 'package'
GROUP BY package, date;

-- The addresses of a day are those with a total above zero.
CREATE {new_table(uniques)}
(
  package     UUID,
  date        Date,
  endpoint_id FixedString(16),
  total       Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, endpoint_id)
SETTINGS {deduplication(10000)};

CREATE {new_view(uniques_view)} TO uniques AS
SELECT artifact AS package, date, endpoint_id, sum(sign) AS total
FROM events
WHERE kind = 'package' AND endpoint_id != toFixedString('', 16)
GROUP BY package, date, endpoint_id;

{breakdown(country)};

{breakdown(platform)};

{breakdown(client)};

{breakdown(company)};

{breakdown(cloud_provider)};

{breakdown(version)};

-- An event counts once for each of its variables.
CREATE {new_table(variables)}
(
  package  UUID,
  date     Date,
  variable LowCardinality(String),
  value    String,
  total    Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, variable, value)
SETTINGS {deduplication(10000)};

CREATE {new_view(variables_view)} TO variables AS
SELECT artifact AS package, date, variable, value, sum(sign) AS total
FROM events
ARRAY JOIN mapKeys(variables) AS variable, mapValues(variables) AS value
WHERE kind = 'package' AND library_type = 'other'
GROUP BY package, date, variable, value;
