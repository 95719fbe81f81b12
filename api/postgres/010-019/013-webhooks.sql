-- Whom does each owner want told what, and what became of the telling?
-- An override of events can change a stage, which is told as a further event; what was told stays as it was.

create table webhooks (
  -- UUIDs of version 7, here and below: their order is the order of creation, which lists are paged by.
  id                  uuid primary key,
  owner_id            uuid not null references owners (id) on delete cascade,
  url                 text not null,
  event_kinds         text[] not null check (cardinality(event_kinds) > 0),
  enabled             boolean not null default true,
  -- Why the service disabled it; null where a person did.
  disabled_reason     text,
  -- Sealed with a key of the service. The one before stays valid for a day after a rotation.
  secret              bytea not null,
  old_secret          bytea,
  old_secret_until    timestamptz,
  -- When the first attempt failed since the last that did not, and on how many days deliveries have ended so since.
  failing_since       timestamptz,
  failed_days         integer not null default 0,
  failed_on           date,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now()
);
create index webhooks_of_owner on webhooks (owner_id, id desc);

create table webhook_events (
  id         uuid primary key,
  owner_id   uuid not null references owners (id) on delete cascade,
  type       text not null,
  -- The very bytes that every attempt sends.
  body       bytea not null,
  created_at timestamptz not null default now()
);
create index webhook_events_of_owner on webhook_events (owner_id);
create index webhook_events_by_age on webhook_events (created_at);

-- The outbox: an event on its way to one webhook.
create table webhook_deliveries (
  id              uuid primary key,
  event_id        uuid not null references webhook_events (id) on delete cascade,
  webhook_id      uuid not null references webhooks (id) on delete cascade,
  state           text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'cancelled')),
  -- Attempts that came to an end, since it was asked for; a redelivery begins again.
  attempts        integer not null default 0,
  -- While a worker has it: until when nobody else takes it.
  next_attempt_at timestamptz not null default now(),
  -- Which claim of a worker has it; null while it waits.
  claim           uuid,
  created_at      timestamptz not null default now(),
  ended_at        timestamptz,
  unique (event_id, webhook_id)
);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, id desc);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where state = 'pending';
create index webhook_deliveries_by_age on webhook_deliveries (created_at);

-- The delivery log.
create table webhook_attempts (
  id            uuid primary key,
  delivery_id   uuid not null references webhook_deliveries (id) on delete cascade,
  started_at    timestamptz not null,
  duration_ms   integer not null,
  -- Null where no answer came.
  status        integer,
  error         text,
  response_body text
);
create index webhook_attempts_of_delivery on webhook_attempts (delivery_id, id desc);
create index webhook_attempts_by_age on webhook_attempts (started_at);
