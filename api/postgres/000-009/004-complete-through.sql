-- Up to which time is all that was asked for in the exports?
-- Set when an import is started, and again when one that owed nothing any more is retracted: from then on the exports
-- owe a change.
alter table imports add column asked_at timestamptz not null default now();

create index imports_owing on imports (owner_id, asked_at)
  where status = 'importing' or chunks_settled < chunks_written;
