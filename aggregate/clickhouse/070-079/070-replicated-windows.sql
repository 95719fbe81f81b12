-- Which inserts does a table have, once several servers keep it? Those of the latest two weeks. ClickHouse's own default for
-- replicas is an hour, less than a worker may stand still in the middle of a range, which would then count once more.
-- Tables of one server take the setting too, so that they have it when they become replicas.
-- An override or a retraction changes nothing here.
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
