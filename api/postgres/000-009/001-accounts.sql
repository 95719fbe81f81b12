-- Who may do what with which package or pixel?
-- Nothing here changes when an event is overridden: events live in ClickHouse.

-- Users and organizations share one namespace, compared without case and kept as written.
create table owners (
  id             uuid primary key,
  kind           text not null check (kind in ('user', 'organization')),
  name           text not null check (name ~ '^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$'),
  -- Names are ASCII; the C collation keeps their comparison the same under every locale of the database.
  name_key       text generated always as (lower(name collate "C")) stored,
  export_enabled boolean not null default false,
  created_at     timestamptz not null default now(),
  constraint owners_name_taken unique (name_key)
);

-- The token itself is never kept: a keyed hash finds the account, a ciphertext lets its owner see it again.
create table accounts (
  id               uuid primary key references owners (id) on delete cascade,
  email            text not null,
  email_key        text generated always as (lower(email collate "C")) stored,
  token_hash       bytea not null unique,
  token_ciphertext bytea not null,
  token_made_at    timestamptz not null default now(),
  created_at       timestamptz not null default now(),
  constraint accounts_email_taken unique (email_key)
);

-- One row: tells a SECRET_KEY that is not the one the tokens here were kept under.
create table secret_key_fingerprint (
  only_row    boolean primary key default true check (only_row),
  fingerprint bytea not null
);

create table organizations (
  id            uuid primary key references owners (id) on delete cascade,
  description   text not null,
  website       text,
  billing_email text not null,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);

create table memberships (
  organization_id uuid not null references organizations (id) on delete cascade,
  account_id      uuid not null references accounts (id) on delete cascade,
  role            text not null check (role in ('member', 'admin', 'owner')),
  created_at      timestamptz not null default now(),
  primary key (organization_id, account_id)
);
create index memberships_of_account on memberships (account_id);

create table packages (
  id                uuid primary key,
  owner_id          uuid not null references owners (id) on delete cascade,
  name              text not null,
  library_type      text not null check (library_type in ('docker', 'npm', 'hackage', 'pypi', 'other')),
  short_description text not null,
  long_description  text,
  website           text,
  backend_url       text,
  public_url        text,
  repository_url    text,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  constraint packages_name_taken unique (owner_id, library_type, name)
);
create index packages_by_name on packages (name);

-- Explicit levels only; `default` is the absence of a row.
create table package_permissions (
  package_id uuid not null references packages (id) on delete cascade,
  account_id uuid not null references accounts (id) on delete cascade,
  level      text not null check (level in ('blocked', 'member', 'admin')),
  created_at timestamptz not null default now(),
  primary key (package_id, account_id)
);
create index package_permissions_of_account on package_permissions (account_id);

-- Ids are UUIDs of version 7: their order is the order of creation, which lists are paged by.
create table pixels (
  id         uuid primary key,
  owner_id   uuid not null references owners (id) on delete cascade,
  name       text not null,
  package_id uuid references packages (id) on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index pixels_of_owner on pixels (owner_id, id);
create index pixels_of_package on pixels (package_id) where package_id is not null;
