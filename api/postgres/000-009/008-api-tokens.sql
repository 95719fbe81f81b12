-- Which further tokens has an account, and how far does each reach?
-- Only the keyed hash is kept: unlike the account's own token, one of these is shown once.
create table api_tokens (
  -- UUIDs of version 7: their order is the order of creation, which the list has.
  id           uuid primary key,
  account_id   uuid not null references accounts (id) on delete cascade,
  name         text not null,
  token_hash   bytea not null unique,
  scopes       text[] not null
    check (cardinality(scopes) > 0 and scopes <@ array['read', 'import', 'export', 'manage']),
  -- The only owner it may be used on; null for every one that the account may act on.
  owner_id     uuid references owners (id) on delete cascade,
  expires_at   timestamptz,
  -- To the minute.
  last_used_at timestamptz,
  created_at   timestamptz not null default now(),
  -- The audit log tells tokens apart by their names.
  constraint api_tokens_name_taken unique (account_id, name)
);
