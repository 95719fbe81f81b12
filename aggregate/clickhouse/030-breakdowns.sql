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

CREATE {new_table(countries)}
(
  package UUID,
  date Date,
  country LowCardinality(String),
  total Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, country)
SETTINGS {deduplication(10000)};

CREATE {new_view(countries_view)} TO countries AS
SELECT artifact AS package, date, country, sum(sign) AS total
FROM events
WHERE kind = 'package' AND country != ''
GROUP BY package, date, country;

CREATE {new_table(platforms)}
(
  package UUID,
  date Date,
  platform LowCardinality(String),
  total Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, platform)
SETTINGS {deduplication(10000)};

CREATE {new_view(platforms_view)} TO platforms AS
SELECT artifact AS package, date, platform, sum(sign) AS total
FROM events
WHERE kind = 'package' AND platform != ''
GROUP BY package, date, platform;

CREATE {new_table(clients)}
(
  package UUID,
  date Date,
  client LowCardinality(String),
  client_version LowCardinality(String),
  total Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, client, client_version)
SETTINGS {deduplication(10000)};

CREATE {new_view(clients_view)} TO clients AS
SELECT artifact AS package, date, client, client_version, sum(sign) AS total
FROM events
WHERE kind = 'package' AND client != ''
GROUP BY package, date, client, client_version;

CREATE {new_table(companies)}
(
  package UUID,
  date Date,
  company LowCardinality(String),
  company_domain LowCardinality(String),
  total Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, company, company_domain)
SETTINGS {deduplication(10000)};

CREATE {new_view(companies_view)} TO companies AS
SELECT artifact AS package, date, company, company_domain, sum(sign) AS total
FROM events
WHERE kind = 'package' AND company != ''
GROUP BY package, date, company, company_domain;

CREATE {new_table(cloud_providers)}
(
  package UUID,
  date Date,
  cloud_provider LowCardinality(String),
  cloud_provider_domain LowCardinality(String),
  total Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, cloud_provider, cloud_provider_domain)
SETTINGS {deduplication(10000)};

CREATE {new_view(cloud_providers_view)} TO cloud_providers AS
SELECT artifact AS package, date, cloud_provider, cloud_provider_domain, sum(sign) AS total
FROM events
WHERE kind = 'package' AND cloud_provider != ''
GROUP BY package, date, cloud_provider, cloud_provider_domain;

CREATE {new_table(versions)}
(
  package UUID,
  date Date,
  package_version LowCardinality(String),
  total Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, package_version)
SETTINGS {deduplication(10000)};

CREATE {new_view(versions_view)} TO versions AS
SELECT artifact AS package, date, package_version, sum(sign) AS total
FROM events
WHERE kind = 'package' AND library_type = 'docker' AND package_version != ''
GROUP BY package, date, package_version;

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
