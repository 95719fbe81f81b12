-- Which imports are there, and how far is each?
-- Counts and chunks_written move with import_chunks, in one transaction, so that a replayed chunk counts once.
create table imports (
  id              uuid primary key,
  owner_id        uuid not null references owners (id) on delete cascade,
  account_id      uuid not null references accounts (id),
  artifact_kind   text not null check (artifact_kind in ('package', 'pixel', 'any')),
  artifact_id     uuid,
  status          text not null default 'importing' check (status in ('importing', 'done', 'aborted')),
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  -- Unknown until the whole body is in the log.
  chunks_total    integer,
  -- Renewed while the body is being received; past it, the upload is taken for interrupted.
  upload_lease    timestamptz not null,
  chunks_written  integer not null default 0,
  chunks_settled  integer not null default 0,
  events_total    bigint not null default 0,
  events_imported bigint not null default 0,
  events_failed   bigint not null default 0,
  retracted       boolean not null default false,
  -- Log entries about the whole import, such as upload-interrupted.
  entries         jsonb not null default '[]'
);

create index imports_by_owner on imports (owner_id, id desc);
create index imports_active on imports (owner_id) where status = 'importing';
create index imports_unsettled on imports (id) where chunks_settled < chunks_written;

create table import_chunks (
  import_id     uuid not null references imports (id) on delete cascade,
  sequence      integer not null,
  receipt_stamp bigint not null,
  events        integer not null,
  settled       boolean not null default false,
  errors        jsonb,
  warnings      jsonb,
  primary key (import_id, sequence)
);

create index import_chunks_unsettled on import_chunks (import_id, receipt_stamp) where not settled;
create index import_chunks_with_errors on import_chunks (import_id, sequence) where errors is not null;
create index import_chunks_with_warnings on import_chunks (import_id, sequence) where warnings is not null;

-- Settlement batches whose rows are all staged in ClickHouse and may or may not have been applied yet.
create table settlements (
  batch      uuid primary key,
  owner_id   uuid not null,
  created_at timestamptz not null default now()
);

create index settlements_by_owner on settlements (owner_id, created_at);

-- Which import did a start with this Idempotency-Key make? Kept for a day.
create table import_keys (
  owner_id   uuid not null references owners (id) on delete cascade,
  key        text not null,
  path       text not null,
  import_id  uuid not null references imports (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (owner_id, key)
);
