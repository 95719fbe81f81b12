-- Which packages and pixels were deleted, and are their events still in ClickHouse?
-- Exports ask PostgreSQL for the ids that they read, so what was deleted leaves them at once; a job erases the events
-- later. What overrode what does not matter any more.
create table deleted_artifacts (
  id         uuid primary key,
  -- Without a reference: the events have to go also when the owner has gone.
  owner_id   uuid not null,
  deleted_at timestamptz not null default now(),
  -- When to look next. At first when lines whose right to be imported was checked before the deletion may be written.
  due_at     timestamptz not null default now() + interval '2 seconds',
  -- How often in a row something was found.
  rounds     integer not null default 0,
  erased_at  timestamptz
);
create index deleted_artifacts_due on deleted_artifacts (due_at) where erased_at is null;
