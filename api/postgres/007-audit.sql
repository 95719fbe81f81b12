-- Who changed what, and when? One row for each change, written in the transaction of the change.
-- Ids are UUIDs of version 7: their order is the order of time, which the list is paged by.
create table audit_entries (
  id          uuid primary key,
  -- Whose it is: the organization's, or the user's own.
  owner_id    uuid not null references owners (id) on delete cascade,
  account_id  uuid not null references accounts (id),
  action      text not null,
  target_kind text not null,
  -- As it was then: the thing may be renamed or gone by now.
  target_id   text not null,
  target_name text not null,
  changes     jsonb not null default '{}',
  request_id  text not null,
  created_at  timestamptz not null default now()
);
create index audit_entries_of_owner on audit_entries (owner_id, id desc);
