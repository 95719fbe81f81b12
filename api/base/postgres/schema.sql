-- Who may do what with which package or pixel, what was imported, what is told to whom? The events are in ClickHouse.
-- Ids that lists are paged by are UUIDs of version 7: their order is the order of creation.
-- From the first release on this text stays as it is: a later change is a file of the folder `changes`, 001-what-changes.sql.

-- How is a text looked for whatever its case? With ICU in all alphabets; `lower` alone would follow the locale of the
-- database, which may know ASCII only. A PostgreSQL that was built without ICU does with that.
do $$
declare
  folded text := case
    when exists (select from pg_collation where collname = 'und-x-icu') then 'lower($1 collate "und-x-icu")'
    else 'lower($1)' end;
begin
  execute format('create function fold_case(text) returns text language sql immutable strict parallel safe as %L',
    'select ' || folded);
end $$;


-- Accounts and organizations

-- Users and organizations share one namespace, compared without case and kept as written.
create table owners (
  id             uuid primary key,
  kind           text not null check (kind in ('user', 'organization')),
  name           text not null check (name ~ '^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$'),
  -- Names are ASCII; the C collation keeps their comparison the same under every locale of the database.
  name_key       text generated always as (lower(name collate "C")) stored,
  export_enabled boolean not null default false,
  created_at     timestamptz not null default now(),
  -- The value of the DNS record that shows a host to be the owner's. No secret: everybody can read the DNS.
  host_token     text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
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
  -- A PHC string of scrypt; null while no password is set.
  password_hash    text,
  -- Neither tokens nor sessions of a disabled account are accepted.
  disabled_at      timestamptz,
  constraint accounts_email_taken unique (email_key)
);

create table organizations (
  id            uuid primary key references owners (id) on delete cascade,
  description   text not null,
  website       text,
  billing_email text not null,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  -- The quota of organizations is of those that an account made.
  made_by       uuid references accounts (id) on delete set null
);
create index organizations_made_by on organizations (made_by) where made_by is not null;

create table memberships (
  organization_id uuid not null references organizations (id) on delete cascade,
  account_id      uuid not null references accounts (id) on delete cascade,
  role            text not null check (role in ('member', 'admin', 'owner')),
  created_at      timestamptz not null default now(),
  primary key (organization_id, account_id)
);
create index memberships_of_account on memberships (account_id);


-- Signing in

-- One row: tells a SECRET_KEY that is not the one the tokens here were kept under.
create table secret_key_fingerprint (
  only_row    boolean primary key default true check (only_row),
  fingerprint bytea not null
);

-- Further tokens of an account. Only the keyed hash is kept: unlike the account's own token, one of these is shown once.
create table api_tokens (
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

-- Sessions of the dashboard. The secret in the cookie is not kept: a keyed hash finds the session.
create table sessions (
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


-- Packages and pixels

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
  -- What a download is worth to the funnel.
  importance        text not null default 'medium' check (importance in ('low', 'medium', 'high')),
  -- The host of public_url, if images are pulled from it: no other owner's package has it here or among its domains.
  -- Programs see to that under a lock on the host.
  public_host       text,
  -- How much everybody may see.
  public            text not null default 'none' check (public in ('none', 'badge', 'page')),
  -- Whether that counts downloads of bots, continuous integration and mirrors.
  public_automated  text not null default 'include' check (public_automated in ('include', 'exclude')),
  -- Which versions are no longer maintained, and since when? An array of {version, date}.
  end_of_life       jsonb not null default '[]',
  constraint packages_name_taken unique (owner_id, library_type, name)
);
create index packages_by_name on packages (name);
create index packages_by_public_host on packages (public_host) where public_host is not null;

-- Explicit levels only; `default` is the absence of a row.
create table package_permissions (
  package_id uuid not null references packages (id) on delete cascade,
  account_id uuid not null references accounts (id) on delete cascade,
  level      text not null check (level in ('blocked', 'member', 'admin')),
  created_at timestamptz not null default now(),
  primary key (package_id, account_id)
);
create index package_permissions_of_account on package_permissions (account_id);

create table pixels (
  id         uuid primary key,
  owner_id   uuid not null references owners (id) on delete cascade,
  name       text not null,
  package_id uuid references packages (id) on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  importance text not null default 'medium' check (importance in ('low', 'medium', 'high'))
);
create index pixels_of_owner on pixels (owner_id, id);
create index pixels_of_package on pixels (package_id) where package_id is not null;

-- Deleted packages and pixels, whose events may still be in ClickHouse. Exports ask PostgreSQL for the ids that they read,
-- so the events leave them at once; a job erases them later.
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


-- Where requests of live collection come in, and where they go

create table package_routes (
  id            uuid primary key,
  package_id    uuid not null references packages (id) on delete cascade,
  template_path text not null,
  -- Empty: the route only collects.
  outgoing_url  text not null,
  created_at    timestamptz not null default now()
);
create index package_routes_of_package on package_routes (package_id, id);

-- Names are in ASCII and lower case, and each is there once, whoever's it is.
create table package_domains (
  id         uuid primary key,
  package_id uuid not null references packages (id) on delete cascade,
  name       text not null,
  created_at timestamptz not null default now(),
  constraint package_domains_name_taken unique (name)
);
create index package_domains_of_package on package_domains (package_id, id);

-- Hosts that owners have shown to be theirs, by a record in the DNS.
create table verified_hosts (
  host        text not null,
  owner_id    uuid not null references owners (id) on delete cascade,
  verified_at timestamptz not null default now(),
  primary key (host, owner_id)
);

-- Hosts that were removed from an owner's packages. Nobody else gets them until the time is over: what still leads there
-- is meant for that owner. Without a reference: they are held also when the owner has gone.
create table held_hosts (
  host       text primary key,
  owner_id   uuid not null,
  held_until timestamptz not null
);

-- Hosts at which pixels or npm reports were answered, and the first and the last day of that. No package may take them.
create table collection_hosts (
  host        text primary key,
  noted_on    date not null default current_date,
  answered_on date not null
);

-- Names that an administrator gave to an owner. Any other npm name is the oldest package's of that name.
create table npm_names (
  name     text primary key,
  owner_id uuid not null references owners (id) on delete cascade
);

create function hold_host(released text, releasing uuid) returns void language sql as $$
  insert into held_hosts (host, owner_id, held_until)
  select released, releasing, now() + interval '30 days' where released is not null and releasing is not null
  on conflict (host) do update set owner_id = excluded.owner_id, held_until = excluded.held_until
$$;

-- Where a package goes, its domains go after it: then the package's own trigger has held them.
create function hold_released_domain() returns trigger language plpgsql as $$
begin
  perform hold_host(old.name, (select owner_id from packages where id = old.package_id));
  return old;
end $$;
create trigger package_domains_hold before delete on package_domains
  for each row execute function hold_released_domain();

create function hold_hosts_of_package() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if old.public_host is distinct from new.public_host then perform hold_host(old.public_host, old.owner_id); end if;
    return new;
  end if;
  perform hold_host(old.public_host, old.owner_id);
  perform hold_host(name, old.owner_id) from package_domains where package_id = old.id;
  return old;
end $$;
create trigger packages_hold_hosts before update or delete on packages
  for each row execute function hold_hosts_of_package();

-- One message a package or pixel and transaction, heard when it commits: the collectors read that one again.
create function tell_collectors() returns trigger language plpgsql as $$
declare
  touched jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
begin
  perform pg_notify('collect_changes', tg_argv[0] || ' ' || (touched ->> tg_argv[1]));
  return null;
end
$$;
create trigger packages_tell_collectors after insert or update or delete on packages
  for each row execute function tell_collectors('package', 'id');
create trigger package_routes_tell_collectors after insert or update or delete on package_routes
  for each row execute function tell_collectors('package', 'package_id');
create trigger package_domains_tell_collectors after insert or update or delete on package_domains
  for each row execute function tell_collectors('package', 'package_id');
create trigger pixels_tell_collectors after insert or update or delete on pixels
  for each row execute function tell_collectors('pixel', 'id');

create function tell_collectors_of_npm_name() returns trigger language plpgsql as $$
begin
  perform pg_notify('collect_changes', 'package ' || id) from packages
  where library_type = 'npm' and name = coalesce(to_jsonb(new), to_jsonb(old)) ->> 'name';
  return null;
end $$;
create trigger npm_names_tell_collectors after insert or update or delete on npm_names
  for each row execute function tell_collectors_of_npm_name();

create function tell_collectors_of_verified_host() returns trigger language plpgsql as $$
begin
  perform pg_notify('collect_changes', 'package ' || p.id) from packages p
  where p.owner_id = new.owner_id and (
    p.public_host = new.host or exists (select from package_domains d where d.package_id = p.id and d.name = new.host)
  );
  return null;
end $$;
create trigger verified_hosts_tell_collectors after insert on verified_hosts
  for each row execute function tell_collectors_of_verified_host();


-- Imports

-- Counts and chunks_written move with import_chunks, in one transaction, so that a replayed chunk counts once.
create table imports (
  id              uuid primary key,
  owner_id        uuid not null references owners (id) on delete cascade,
  -- Null once the account was removed: imports in organizations outlive it.
  account_id      uuid references accounts (id) on delete set null,
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
  -- Of the imported ones: without a field that could not be used.
  events_warned   bigint not null default 0,
  -- Lines that hold no event, such as requests of a log that are no downloads.
  lines_skipped   bigint not null default 0,
  retracted       boolean not null default false,
  -- Log entries about the whole import, such as upload-interrupted.
  entries         jsonb not null default '[]',
  -- Set at the start, and again when an import that owed nothing any more is retracted: from then on the exports owe a
  -- change.
  asked_at        timestamptz not null default now(),
  -- When the exports last had all that it owed.
  settled_at      timestamptz,
  -- Null for the account's own token.
  token_name      text,
  -- Of the file, as its sender named it.
  file_name       text,
  -- As sent, and without their packing.
  bytes           bigint not null default 0,
  bytes_unpacked  bigint not null default 0,
  lines_received  bigint not null default 0,
  finished_at     timestamptz,
  -- Whether the log of a retracted import is erased: its refused lines go with its events.
  log_erased      boolean not null default false,
  -- Receipt stamp of the latest chunk.
  last_stamp      bigint not null default 0,
  -- By partition of the event log the offset behind its last chunk. Null while it is being received, and where the process
  -- that received it died.
  log_ends        bigint[]
);
create index imports_by_owner on imports (owner_id, id desc);
create index imports_finished on imports (owner_id, finished_at);
create index imports_active on imports (owner_id) where status = 'importing';
create index imports_unsettled on imports (id) where chunks_settled < chunks_written;
create index imports_owing on imports (owner_id, asked_at)
  where status = 'importing' or chunks_settled < chunks_written;
create index imports_log_to_erase on imports (id) where retracted and not log_erased;
create index imports_last_stamp on imports (owner_id, last_stamp);
create index imports_settled on imports (owner_id, settled_at);

create function note_settled() returns trigger language plpgsql as $$
begin
  new.settled_at := clock_timestamp();
  return new;
end $$;
create trigger imports_are_settled before update on imports for each row
  when (
    (old.status = 'importing' or old.chunks_settled < old.chunks_written)
    and not (new.status = 'importing' or new.chunks_settled < new.chunks_written)
  )
  execute function note_settled();

create table import_chunks (
  import_id         uuid not null references imports (id) on delete cascade,
  sequence          integer not null,
  receipt_stamp     bigint not null,
  events            integer not null,
  settled           boolean not null default false,
  -- Samples of the import's log. An hourly job empties the old ones.
  errors            jsonb,
  warnings          jsonb,
  -- Lines that count as failed because the chunk is a dead letter; null for any other chunk.
  dead_letter_lines integer,
  -- How often it was reported. Rows that come again, under another token, while the chunk is being settled are not seen by
  -- that settlement: it may mark only what it knew of.
  reports           integer not null default 1,
  primary key (import_id, sequence)
);
create index import_chunks_unsettled on import_chunks (import_id, receipt_stamp) where not settled;
create index import_chunks_with_errors on import_chunks (import_id, sequence) where errors is not null;
create index import_chunks_with_warnings on import_chunks (import_id, sequence) where warnings is not null;
create index import_chunks_samples on import_chunks (receipt_stamp)
where dead_letter_lines is null and (errors is not null or warnings is not null);

-- Which import did a start with this Idempotency-Key make? Kept for a day.
create table import_keys (
  owner_id   uuid not null references owners (id) on delete cascade,
  key        text not null,
  path       text not null,
  import_id  uuid not null references imports (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (owner_id, key)
);

-- Recounts of ClickHouse's daily tables that began.
create sequence recounts;

-- Settlement batches whose rows are all staged in ClickHouse and may or may not have been applied yet.
create table settlements (
  batch      uuid primary key,
  owner_id   uuid not null,
  created_at timestamptz not null default now()
);
create index settlements_by_owner on settlements (owner_id, created_at);

-- Chunks that enrichment could not process, and that wait for an operator.
create table dead_letters (
  id           bigint generated always as identity primary key,
  -- <log id>:<topic>:<partition>:<offset>
  log_position text not null unique,
  partition    integer not null,
  "offset"     bigint not null,
  -- Without a reference: a damaged record may name what does not exist.
  import_id    uuid,
  sequence     integer not null,
  first_line   bigint not null,
  lines        integer not null,
  record       bytea,
  reason       text not null,
  tries        integer not null,
  created_at   timestamptz not null default now(),
  -- Tried again or dropped. The row stays without its record for a while: a replay must not make it anew.
  ended_at     timestamptz,
  constraint dead_letter_with_record check ((record is null) = (ended_at is not null))
);
create index dead_letters_waiting on dead_letters (id) where ended_at is null;

-- May an owner start another import now? Inserts it and answers its first receipt stamp, or null where too many run.
-- One call in place of several statements: senders of one owner wait for one another only as long as the server works, not
-- while a busy program sends the next statement. Each statement begins after the lock of the owner, so it sees every
-- earlier start.
-- Receipt stamps are milliseconds, and never go back for an owner: not when a clock is set back, and not when processes
-- have clocks that differ. So the events of an import override those of the earlier ones, and an erasure that was asked
-- before it leaves them alone.
create function start_import(
  new_id uuid, of_owner uuid, by_account uuid, kind text, artifact uuid, lease_seconds double precision,
  with_token text, with_file text, active_max integer
) returns bigint language plpgsql as $$
declare
  first_stamp bigint;
begin
  perform from owners where id = of_owner for update;
  select greatest(
    (extract(epoch from clock_timestamp()) * 1000)::bigint, max(last_stamp) + 1,
    (select max(stamp) from erasures where owner_id = of_owner and finished_at is null)
  ) into first_stamp
  from imports where owner_id = of_owner;
  insert into imports
    (id, owner_id, account_id, artifact_kind, artifact_id, upload_lease, token_name, file_name, last_stamp)
  select new_id, of_owner, by_account, kind, artifact, now() + make_interval(secs => lease_seconds), with_token, with_file,
    first_stamp
  where (select count(*) from imports where owner_id = of_owner and status = 'importing') < active_max;
  return case when found then first_stamp end;
end $$;


-- What is removed from ClickHouse

-- The day before which events were removed, because the service keeps them only for so long. Overrides of earlier events
-- are refused: nothing could take the earlier version out of the numbers.
create table events_removed (
  only_row boolean primary key default true check (only_row),
  before   date not null
);

-- Imports that went with their owner. Their chunks may still be in the event log, and are skipped there; a job erases their
-- logs, which hold refused lines as they were sent.
create table removed_imports (
  id         uuid primary key,
  removed_at timestamptz not null default now(),
  log_erased boolean not null default false
);
create index removed_imports_log_to_erase on removed_imports (id) where not log_erased;

create function note_removed_imports() returns trigger language plpgsql as $$
begin
  insert into removed_imports (id) select id from removed;
  return null;
end $$;
create trigger imports_leave_their_ids after delete on imports referencing old table as removed
  for each statement execute function note_removed_imports();

-- Clients whose events are to be erased. An override of an erased event by another client stays; an event that the
-- client's had overridden comes back.
create table erasures (
  id           uuid primary key,
  owner_id     uuid not null references owners (id) on delete cascade,
  kind         text not null check (kind in ('origin_id', 'endpoint_id')),
  -- The client's id, encrypted, so that it is in no file of this database. Null once all is erased.
  client       bytea,
  asked_at     timestamptz not null default clock_timestamp(),
  -- Which imports it is about: those with a last receipt stamp below, and those that were under way. They go whole.
  stamp        bigint not null,
  imports      uuid[] not null,
  -- By process of live collection: how often it had emptied its buffer.
  collectors   jsonb not null,
  -- The ends of the event log's partitions, once all live events of before are in it.
  log_ends     bigint[],
  -- Live events with receipt stamps below go. Known once all of before are enriched: clocks of collectors differ.
  live_stamp   bigint,
  -- What may still bring events of before; null while events are being erased.
  waiting_for  text check (waiting_for in ('live-collection', 'event-log', 'imports', 'dead-letters')),
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
create index erasures_open on erasures (owner_id, stamp) where finished_at is null;

-- Processes of live collection. They answer an event before it is in the event log: how often has each found since that all
-- before are in it? One that says nothing for a day is gone, and with it what it had not appended.
create table collectors (
  -- Host and DATA_DIR, which it has again after a crash.
  name    text primary key,
  flushes bigint not null default 0,
  seen_at timestamptz not null default now()
);


-- The funnel: at which stage of adoption is which company, since when and why? Counted from ClickHouse by a job.

-- As of which time an owner's companies were looked at last. A run with an earlier one changes nothing.
create table funnel_runs (
  owner_id uuid primary key references owners (id) on delete cascade,
  as_of    timestamptz not null
);

-- Since when a run finds imports of an owner under way. Nobody waits for longer than a day: overrides count twice until they
-- are settled.
create table funnel_waits (
  owner_id uuid primary key references owners (id) on delete cascade,
  since    timestamptz not null
);

create table funnel_companies (
  owner_id   uuid not null references owners (id) on delete cascade,
  -- In ClickHouse's order, in which a run comes by.
  domain     text collate "C" not null,
  name       text not null,
  -- Null until a rule places it for the first time.
  stage      text check (stage in ('interest', 'investigation', 'experimentation', 'ongoing-usage', 'inactive')),
  since      timestamptz check ((since is null) = (stage is null)),
  -- Whether it ever was at investigation or higher.
  engaged    boolean not null,
  score      float8 not null,
  downloads  bigint not null,
  views      bigint not null,
  -- Of the last 30 days.
  recent_downloads bigint not null default 0,
  -- Null when nothing is left of its activity.
  first_seen date,
  last_seen  date,
  -- A hash of its days before the last run. When old events change it, the past is due to be computed anew.
  past         text not null default '0',
  is_due       boolean not null default false,
  -- The day of its first announced stage. The days before it are its past.
  announced_on date,
  primary key (owner_id, domain)
);
create index funnel_companies_due on funnel_companies (owner_id, domain) where is_due;

-- What was announced is never rewritten. The past is computed anew when its events change.
create table funnel_changes (
  id         uuid primary key,
  owner_id   uuid not null references owners (id) on delete cascade,
  domain     text collate "C" not null,
  old_stage  text,
  new_stage  text not null,
  -- The rule that applied.
  cause      text not null,
  changed_at timestamptz not null,
  -- At the end of a day of the past, and announced to nobody.
  is_past    boolean not null default false
);
create index funnel_changes_of_company on funnel_changes (owner_id, domain, changed_at desc, id desc);

-- By how many companies did a stage grow on a day? Their sum up to a day is how many were there at its end.
create table funnel_growth (
  owner_id  uuid not null references owners (id) on delete cascade,
  date      date not null,
  stage     text not null,
  companies integer not null,
  primary key (owner_id, date, stage)
);


-- Webhooks: whom does each owner want told what, and what became of the telling?

create table webhooks (
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
-- Counted of each webhook whenever more are claimed, beside thousands that wait.
create index webhook_deliveries_under_way on webhook_deliveries (webhook_id, next_attempt_at)
  where state = 'pending' and claim is not null;
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


-- Annotations: what happened on a day, for charts

create table annotations (
  id          uuid primary key,
  owner_id    uuid not null references owners (id) on delete cascade,
  -- Null: of all packages.
  package_id  uuid references packages (id) on delete cascade,
  date        date not null,
  -- The last day of what took several.
  end_date    date check (end_date >= date),
  text        text not null,
  url         text check (url ~* '^https?://'),
  -- Names the release that it is of, wherever that was told. Null for a note of people.
  release_key text,
  created_at  timestamptz not null default now(),
  -- Of a release that was taken off the charts, so that it does not come back.
  deleted_at  timestamptz,
  constraint annotations_of_release unique (owner_id, release_key)
);
create index annotations_of_owner on annotations (owner_id, date desc, id desc);
create index annotations_of_package on annotations (package_id) where package_id is not null;

-- With these, encrypted, GitHub signs its events.
create table annotation_secrets (
  owner_id uuid primary key references owners (id) on delete cascade,
  secret   bytea not null,
  made_at  timestamptz not null default now()
);


-- Sources: what registries count

-- What is asked for its counts every day, such as the package left-pad of npm.
create table sources (
  id              uuid primary key,
  owner_id        uuid not null references owners (id) on delete cascade,
  kind            text not null,
  name            text not null,
  package_id      uuid references packages (id) on delete set null,
  enabled         boolean not null default true,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  last_run_at     timestamptz,
  last_success_at timestamptz,
  last_error      text,
  -- Runs that failed in a row.
  failures        integer not null default 0,
  -- While a process runs it: until when nobody else does. Null while it is disabled.
  next_run_at     timestamptz,
  -- Of the last answer, if that was the only one.
  etag            text,
  constraint sources_taken unique (owner_id, kind, name)
);
create index sources_of_owner on sources (owner_id, id desc);
create index sources_of_package on sources (package_id) where package_id is not null;
create index sources_due on sources (kind, next_run_at) where next_run_at is not null;
create index sources_due_of_owner on sources (kind, owner_id, next_run_at) where next_run_at is not null;

-- How often all processes together ask a registry. A row from the first request on.
create table registries (
  kind         text primary key,
  next_turn_at timestamptz not null,
  -- It wants fewer requests: until when nobody asks it, and what it answered.
  paused_until timestamptz,
  pause_reason text
);

create table reported_counts (
  source_id   uuid not null references sources (id) on delete cascade,
  date        date not null,
  -- Empty where the registry counts all versions together.
  version     text not null,
  metric      text not null,
  -- Null on a day on which a counter of the registry was set back.
  value       bigint,
  -- As it was before the registry corrected it.
  first_value bigint,
  fetched_at  timestamptz not null default now(),
  changed_at  timestamptz,
  primary key (source_id, date, version, metric)
);

-- Counters of registries that count since a thing exists: days are the differences.
create table source_counters (
  source_id uuid not null references sources (id) on delete cascade,
  key       text not null,
  version   text not null,
  metric    text not null,
  -- The day of the last reading.
  date      date not null,
  value     bigint not null,
  -- At the end of the reading day before; null where there is none.
  base      bigint,
  -- Whether it fell on this day.
  is_reset  boolean not null default false,
  primary key (source_id, key)
);


-- Notifications

-- What an owner's people are told, and where.
create table notifications (
  id                uuid primary key,
  owner_id          uuid not null references owners (id) on delete cascade,
  event             text not null,
  -- Null for all packages of the owner.
  package_id        uuid references packages (id) on delete cascade,
  threshold_percent float8,
  channel           text not null,
  -- An address, or a URL that is a secret: sealed with a key of the service, and what answers show of it.
  target            bytea not null,
  target_shown      text not null,
  -- The address of a mail as receivers are compared, see `mailboxKey`; null for a chat.
  mailbox           text,
  -- The account that saved it last; limits count its mails.
  saved_by          uuid references accounts (id) on delete set null,
  enabled           boolean not null default true,
  -- Of messages that a person sent by hand: the last one, why it was not taken, and the last one that was.
  hand_tried_at     timestamptz,
  hand_error        text,
  hand_sent_at      timestamptz,
  -- Periods and failures from before it are not told.
  enabled_at        timestamptz not null default now(),
  -- Since the first attempt that failed after the last that did not.
  failing_since     timestamptz,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  constraint notifications_mailbox check ((channel = 'email') = (mailbox is not null))
);
create index notifications_of_owner on notifications (owner_id, id desc);
create index notifications_of_package on notifications (package_id) where package_id is not null;
create index notifications_saved_by on notifications (saved_by) where saved_by is not null;

-- The inbox behind a mailbox, as `inboxOf`: without `+tag`, and without case.
create function inbox_of(mailbox text) returns text language sql immutable as $$
  select lower(regexp_replace(mailbox, '\+.*(@[^@]*)$', '\1') collate "C")
$$;

-- Who was asked for, and gave, consent to mails of an owner? One row for each address that no member has.
create table mail_agreements (
  id         uuid primary key,
  owner_id   uuid not null references owners (id) on delete cascade,
  mailbox    text not null,
  -- When the last confirmation mail was sent, and which message it was: its link is the only valid one.
  asked_at   timestamptz,
  asked_by   uuid,
  -- The username of the account that asked.
  asker      text,
  agreed_at  timestamptz,
  constraint mail_agreements_once unique (owner_id, mailbox)
);

-- Opt-outs of receivers: of one owner, or of the whole service (no owner). Only the receiver undoes them.
create table mail_stops (
  -- The inbox, not its spellings: a stop covers more rather than less.
  inbox      text not null check (inbox = inbox_of(inbox)),
  owner_id   uuid references owners (id) on delete cascade,
  stopped_at timestamptz not null default clock_timestamp(),
  constraint mail_stops_once unique nulls not distinct (inbox, owner_id)
);
create index mail_stops_of_owner on mail_stops (owner_id) where owner_id is not null;

-- Sent mails, for the limits: a row for each of `receiver ...`, `account ...` and both. Independent of owners, so that
-- deleting one resets no limit.
create table mail_counts (
  message_id uuid not null,
  counted_by text not null,
  kind       text not null check (kind in ('confirmation', 'digest', 'alert', 'by-hand')),
  sent_at    timestamptz not null default clock_timestamp(),
  primary key (message_id, counted_by)
);
create index mail_counts_newest on mail_counts (counted_by, sent_at desc);
create index mail_counts_by_age on mail_counts (sent_at);

-- Does the receiver get mails of this owner? `stopped`, `confirmed`, or `awaiting` its confirmation.
create function receiver_state(owner uuid, receiver text) returns text language sql stable as $$
  select case
    when exists (
      select from mail_stops s where s.inbox = inbox_of(receiver) and coalesce(s.owner_id, owner) = owner
    ) then 'stopped'
    when exists (
      select from mail_agreements a where a.owner_id = owner and a.mailbox = receiver and a.agreed_at is not null
    ) or exists (
      -- Members agree by being there.
      select from accounts a
      where a.email_key = lower(receiver collate "C") and a.disabled_at is null and (a.id = owner
        or exists (select from memberships m where m.account_id = a.id and m.organization_id = owner))
    ) then 'confirmed'
    else 'awaiting' end
$$;

-- Which owners were looked at for messages, so that planning goes on where it stopped.
create table notification_plans (
  owner_id uuid primary key references owners (id) on delete cascade,
  -- When the pass over its rules began that is under way or was the last.
  begun_at timestamptz not null,
  turn_at  timestamptz not null,
  -- The last rule of its last turn; null when the pass is through.
  after    text
);

-- What was found to tell of a period or a failure, also where that was nothing: one row, and at most one that corrects it.
create table notification_messages (
  id               uuid primary key,
  owner_id         uuid not null references owners (id) on delete cascade,
  -- Null for the owner's webhooks, which have deliveries of their own.
  notification_id  uuid references notifications (id) on delete cascade,
  event            text not null,
  -- The first day of a period, or which failure.
  period           text not null,
  corrects         uuid references notification_messages (id) on delete cascade,
  -- A failure that is `gathered` is told in the message of another one.
  state            text not null
    check (state in ('nothing', 'gathered', 'pending', 'sent', 'failed', 'cancelled')),
  data             jsonb not null,
  -- All events received before it are in the numbers.
  complete_through timestamptz not null,
  checked_at       timestamptz not null default clock_timestamp(),
  attempts         integer not null default 0,
  -- While a worker sends it: which claim, and in `next_attempt_at` when another worker may take it.
  claim            uuid,
  next_attempt_at  timestamptz not null default clock_timestamp(),
  last_error       text,
  created_at       timestamptz not null default clock_timestamp(),
  ended_at         timestamptz
);
create unique index notification_messages_once
  on notification_messages ((coalesce(notification_id, owner_id)), event, period, (corrects is not null));
create index notification_messages_of_notification on notification_messages (notification_id, id desc);
create index notification_messages_of_owner on notification_messages (owner_id);
-- When did a rule last tell of failures, among thousands that were gathered?
create index notification_messages_of_rule
  on notification_messages ((coalesce(notification_id, owner_id)), event, created_at desc) where state <> 'gathered';
create index notification_messages_corrections on notification_messages (corrects) where corrects is not null;
create index notification_messages_due on notification_messages (notification_id, next_attempt_at)
  where state = 'pending';
create index notification_messages_under_way on notification_messages (notification_id, next_attempt_at)
  where state = 'pending' and claim is not null;
create index notification_messages_by_age on notification_messages (created_at);


-- Operation

-- Who changed what, and when? One row for each change, written in the transaction of the change. Exports and failed
-- sign-ins have rows as well, of which only the newest of each owner and token stay.
create table audit_entries (
  id           uuid primary key,
  -- Whose it is: the organization's, or the user's own.
  owner_id     uuid not null references owners (id) on delete cascade,
  -- Null for the operator on the command line, for failed sign-ins, and once the account was removed.
  account_id   uuid references accounts (id) on delete set null,
  -- The additional token that was used, as it was called then; null for the account's own.
  token_name   text,
  action       text not null,
  target_kind  text not null,
  -- As it was then: the thing may be renamed or gone by now.
  target_id    text not null,
  target_name  text not null,
  changes      jsonb not null default '{}',
  -- Null for the operator.
  request_id   text,
  -- A change may have waited for others since its transaction began.
  created_at   timestamptz not null default clock_timestamp(),
  -- The actor's name, kept when its account was removed.
  account_name text
);
create index audit_entries_of_owner on audit_entries (owner_id, id desc);
create index audit_entries_of_actor on audit_entries (owner_id, account_id, id desc);
create index audit_entries_of_action on audit_entries (owner_id, action, id desc);
create index audit_entries_by_age on audit_entries (created_at);

-- The last time of each scheduled job that was done. Processes run the same schedule: one that comes late to a time finds
-- here that it is done.
create table scheduled_runs (
  job     text primary key,
  done_at timestamptz not null,
  -- As the schedule has it; `done_at` is when.
  due_at  timestamptz not null
);
