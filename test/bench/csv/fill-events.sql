-- What would a month of downloads of one package look like? Rows of some 370 bytes of CSV, from the numbers of a range.
-- Nothing in it is overridden.
INSERT INTO events (artifact, kind, library_type, time, unique_key, version, import_id, sign, type, package_version,
  referer, user_agent, variables, client, client_version, platform, origin_id, endpoint_id, latitude, longitude,
  country, state, city, postal, company, company_domain, connection_type)
SELECT {artifact:UUID}, 'package', 'other',
  toDateTime64('2025-03-01 00:00:00', 3, 'UTC') + toIntervalMillisecond((number * 7919) % 2678400000),
  toString(number), number + 1, toUUID('00000000-0000-0000-0000-000000000000'), 1, 'file-download',
  concat('2.', toString(number % 40)), if(number % 10 = 0, 'https://docs.example.org/install', ''),
  concat('curl/8.', toString(number % 50), '.0 (x86_64-pc-linux-gnu) libcurl/8.5.0 OpenSSL/3.0.13'),
  map('os', concat('linux-', toString(number % 5)), 'channel', if(number % 3 = 0, 'stable', 'größte Auswahl')),
  'curl', concat('8.', toString(number % 50)), 'Linux',
  reinterpretAsFixedString(sipHash128(number % 100000)), reinterpretAsFixedString(sipHash128(number % 50000)),
  50.1 + (number % 1000) / 100, 8.6 + (number % 700) / 100,
  ['DE', 'US', 'FR', 'CN'][number % 4 + 1], 'Hesse', ['Frankfurt', 'Berlin', 'New York', 'Paris'][number % 4 + 1],
  toString(10000 + number % 5000), if(number % 3 = 0, 'Amazon Web Services', ''),
  if(number % 3 = 0, 'aws.amazon.com', ''), if(number % 3 = 0, 'cloud provider', 'ISP')
FROM numbers({first:UInt64}, {count:UInt64})
