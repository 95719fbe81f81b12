-- How often was a chunk reported? Rows that come again, under another token, while the chunk is being settled are not
-- seen by that settlement: it may mark only what it knew of.
alter table import_chunks add column reports integer not null default 1;
