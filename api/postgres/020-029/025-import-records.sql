-- By which token was an import started, how much of it has arrived, and when did it end?
alter table imports
  -- Null for the account's own token.
  add column token_name     text,
  -- Null where an earlier version received the import.
  add column bytes          bigint,
  add column lines_received bigint,
  add column finished_at    timestamptz;

-- Every line of a finished import was counted. Later changes to it are rare: a retraction.
update imports set finished_at = updated_at where status <> 'importing';
update imports set lines_received = events_total where status = 'done';
