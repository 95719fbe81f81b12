-- Did a program ask by itself: a bot, continuous integration, a mirror? Earlier events keep nothing here: ClickHouse
-- cannot read user agents as enrichment does.
-- An override or a retraction inserts a version again with the value that it has.
ALTER {table(events)} ADD COLUMN IF NOT EXISTS automated LowCardinality(String);
