-- What could enrichment not process, and waits for an operator?
-- Nothing here changes when an event is overridden: none of these lines became an event.

create table parked_chunks (
  id         bigint generated always as identity primary key,
  -- <log id>:<topic>:<partition>:<offset>
  place      text not null unique,
  partition  integer not null,
  "offset"   bigint not null,
  -- Without a reference: a damaged record may name what does not exist.
  import_id  uuid,
  sequence   integer not null,
  first_line bigint not null,
  lines      integer not null,
  record     bytea,
  reason     text not null,
  tries      integer not null,
  parked_at  timestamptz not null default now(),
  -- Tried again or dropped. The row stays without its record for a while: a replay must not park it anew.
  ended_at   timestamptz,
  constraint parked_with_record check ((record is null) = (ended_at is not null))
);
create index parked_chunks_waiting on parked_chunks (id) where ended_at is null;

-- Lines that count as failed because the chunk was set aside; null for any other chunk.
alter table import_chunks add column set_aside integer;
