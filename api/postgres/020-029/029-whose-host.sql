-- Whose is a host or an npm name that is not, or not only, in the packages' own rows?
-- Nothing here changes when an event is overridden.

-- Hosts that were removed from an owner's packages. Nobody else gets them until the time is over: what still leads there
-- is meant for that owner. Without a reference: they are held also when the owner has gone.
create table held_hosts (
  host       text primary key,
  owner_id   uuid not null,
  held_until timestamptz not null
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
declare
  host text := to_jsonb(old) ->> 'public_host';
begin
  if tg_op = 'UPDATE' then
    if host is distinct from (to_jsonb(new) ->> 'public_host') then perform hold_host(host, old.owner_id); end if;
    return new;
  end if;
  perform hold_host(host, old.owner_id);
  perform hold_host(name, old.owner_id) from package_domains where package_id = old.id;
  return old;
end $$;
create trigger packages_hold_hosts before update or delete on packages
  for each row execute function hold_hosts_of_package();

-- Hosts at which pixels or npm reports were answered, and the last day of that. No package may take them.
create table collection_hosts (
  host        text primary key,
  answered_on date not null
);

-- Names that an administrator gave to an owner. Any other npm name is the oldest package's of that name, and nobody else
-- can make one. Where several owners have one since before that rule, the oldest package's owner has the reports.
create table npm_names (
  name     text primary key,
  owner_id uuid not null references owners (id) on delete cascade
);

create function tell_collectors_of_npm_name() returns trigger language plpgsql as $$
begin
  perform pg_notify('collect_changes', 'package ' || id) from packages
  where library_type = 'npm' and name = coalesce(to_jsonb(new), to_jsonb(old)) ->> 'name';
  return null;
end $$;
create trigger npm_names_tell_collectors after insert or update or delete on npm_names
  for each row execute function tell_collectors_of_npm_name();
