-- Who changed something, if not an account by its own token?

-- The operator, on the command line, has neither an account nor a request.
alter table audit_entries alter column account_id drop not null;
alter table audit_entries alter column request_id drop not null;

-- The additional token that was used, as it was called then; null for the account's own.
alter table audit_entries add column token_name text;

-- A change may have waited for others since its transaction began.
alter table audit_entries alter column created_at set default clock_timestamp();

create index audit_entries_of_actor on audit_entries (owner_id, account_id, id desc);
create index audit_entries_of_action on audit_entries (owner_id, action, id desc);
