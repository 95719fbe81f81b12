-- Which chunks have samples of their import's log, and how old are they? An hourly job empties the old ones.
create index import_chunks_samples on import_chunks (receipt_stamp)
where dead_letter_lines is null and (errors is not null or warnings is not null);
