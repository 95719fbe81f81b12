-- Who changed what, and when? One row for each change, written in the transaction of the change.
-- Ids are UUIDs of version 7: their order is the order of time, which the list is paged by.
create table audit_entries (
  id          uuid primary key,
  -- Whose it is: the organization's, or the user's own.
  owner_id    uuid not null references owners (id) on delete cascade,
  -- The operator, on the command line, has neither an account nor a request.
  account_id  uuid references accounts (id),
  -- The additional token that was used, as it was called then; null for the account's own.
  token_name  text,
  action      text not null,
  target_kind text not null,
  -- As it was then: the thing may be renamed or gone by now.
  target_id   text not null,
  target_name text not null,
  changes     jsonb not null default '{}',
  request_id  text,
  -- A change may have waited for others since its transaction began.
  created_at  timestamptz not null default clock_timestamp()
);
create index audit_entries_of_owner on audit_entries (owner_id, id desc);
create index audit_entries_of_actor on audit_entries (owner_id, account_id, id desc);
create index audit_entries_of_action on audit_entries (owner_id, action, id desc);
