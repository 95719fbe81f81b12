-- Which clients' events are to be erased, and how far is it?
-- An override of an erased event by another client stays; an event that the client's had overridden comes back.
create table erasures (
  -- UUIDs of version 7: their order is the order of asking, which the list is paged by.
  id           uuid primary key,
  owner_id     uuid not null references owners (id) on delete cascade,
  kind         text not null check (kind in ('origin_id', 'endpoint_id')),
  -- The client's id, encrypted, so that it is in no file of this database. Null once all is erased.
  client       bytea,
  asked_at     timestamptz not null default clock_timestamp(),
  -- When to look next.
  due_at       timestamptz not null default now(),
  -- How often in a row something was found.
  rounds       integer not null default 0,
  events       bigint not null default 0,
  lines        bigint not null default 0,
  finished_at  timestamptz,
  constraint erasures_client_until_finished check ((client is null) = (finished_at is not null))
);
create index erasures_of_owner on erasures (owner_id, id desc);
create index erasures_due on erasures (due_at) where finished_at is null;

-- Whether the log of a retracted import is erased: its refused lines go with its events.
alter table imports add column log_erased boolean not null default false;
create index imports_log_to_erase on imports (id) where retracted and not log_erased;
