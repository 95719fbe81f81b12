-- Which inserts does a table have? Also those whose rows were all removed: an override or a retraction subtracts what an
-- insert added, a merge of both leaves an empty part, and with this part ClickHouse removed the tokens of both. The insert,
-- repeated late, then counted once more. Empty parts stay now, until a merge takes them in.
ALTER {table(events)} MODIFY SETTING {deduplication(100000)};

ALTER {table(event_ids)} MODIFY SETTING {deduplication(10000)};

ALTER {table(import_events)} MODIFY SETTING {deduplication(10000)};

ALTER {table(import_log)} MODIFY SETTING {deduplication(10000)};

ALTER {table(totals)} MODIFY SETTING {deduplication(10000)};

ALTER {table(uniques)} MODIFY SETTING {deduplication(10000)};

ALTER {table(countries)} MODIFY SETTING {deduplication(10000)};

ALTER {table(platforms)} MODIFY SETTING {deduplication(10000)};

ALTER {table(clients)} MODIFY SETTING {deduplication(10000)};

ALTER {table(companies)} MODIFY SETTING {deduplication(10000)};

ALTER {table(cloud_providers)} MODIFY SETTING {deduplication(10000)};

ALTER {table(versions)} MODIFY SETTING {deduplication(10000)};

ALTER {table(variables)} MODIFY SETTING {deduplication(10000)};

ALTER {table(company_activity)} MODIFY SETTING {deduplication(10000)};
