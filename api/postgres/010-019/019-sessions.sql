-- Who is signed in to the dashboard, and how may an account sign in?
-- Nothing here changes when an event is overridden: events live in ClickHouse.

-- The secret in the cookie is not kept: a keyed hash finds the session, as with API tokens.
create table sessions (
  -- UUIDs of version 7: their order is the order of signing in. The account's own list names a session by it.
  id           uuid primary key,
  account_id   uuid not null references accounts (id) on delete cascade,
  secret_hash  bytea not null unique,
  method       text not null check (method in ('link', 'token', 'password', 'openid')),
  -- As the browser described itself, shortened.
  user_agent   text not null,
  -- The network of the client, never its address: 203.0.113.0/24 or 2001:db8:1::/48. Null if unknown.
  network      text,
  created_at   timestamptz not null default now(),
  -- To the minute.
  last_used_at timestamptz not null default now()
);
create index sessions_of_account on sessions (account_id, id);

-- Links of one use. The secret in the link is not kept either.
create table sign_in_links (
  id          uuid primary key,
  -- Null: the link makes the first account.
  account_id  uuid references accounts (id) on delete cascade,
  secret_hash bytea not null unique,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz not null,
  used_at     timestamptz
);
create index sign_in_links_of_account on sign_in_links (account_id);

alter table accounts
  -- A PHC string of scrypt; null while no password is set.
  add column password_hash text,
  -- Neither tokens nor sessions of a disabled account are accepted.
  add column disabled_at   timestamptz;

-- Entries and imports in organizations outlive the account that made them.
alter table audit_entries
  -- The actor's name, kept when its account was removed.
  add column account_name text,
  drop constraint audit_entries_account_id_fkey,
  add constraint audit_entries_account_id_fkey
    foreign key (account_id) references accounts (id) on delete set null;
alter table imports
  alter column account_id drop not null,
  drop constraint imports_account_id_fkey,
  add constraint imports_account_id_fkey
    foreign key (account_id) references accounts (id) on delete set null;
