-- Dead letters under the name that the rest of the program has for them: chunks that enrichment could not process.
-- Nothing here changes when an event is overridden: none of these lines became an event.

alter table parked_chunks rename to dead_letters;
alter table dead_letters rename column place to log_position;
alter table dead_letters rename column parked_at to created_at;
alter table dead_letters rename constraint parked_with_record to dead_letter_with_record;
alter table dead_letters rename constraint parked_chunks_pkey to dead_letters_pkey;
alter table dead_letters rename constraint parked_chunks_place_key to dead_letters_log_position_key;
alter index parked_chunks_waiting rename to dead_letters_waiting;
alter sequence parked_chunks_id_seq rename to dead_letters_id_seq;

-- Lines that count as failed because their chunk is a dead letter; null for any other chunk.
alter table import_chunks rename column set_aside to dead_letter_lines;
update import_chunks set errors = jsonb_set(errors, '{0,type}', '"dead-letter"')
where dead_letter_lines is not null and errors->0->>'type' = 'chunk-set-aside';

update audit_entries set action = replace(action, 'parked.', 'dead-letters.') where action like 'parked.%';
