-- How often is a row merged? ClickHouse merges parts once they make one that is five times as large as the largest of them:
-- ten times for the tables with about a row an event. Measured with inserts of 50,000 events: 4.2 rows merged an event in
-- place of 6.9, and eleven parts in place of four.
ALTER {table(events)} MODIFY SETTING merge_selector_base = 10;

ALTER {table(event_ids)} MODIFY SETTING merge_selector_base = 10;

ALTER {table(import_events)} MODIFY SETTING merge_selector_base = 10;

ALTER {table(uniques)} MODIFY SETTING merge_selector_base = 10;
