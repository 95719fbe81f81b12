-- Which owners have shown, by a record in the DNS, that a host is theirs?
-- Nothing here changes when an event is overridden.
-- The record's value. It is no secret, since everybody can read the DNS.
alter table owners
  add column host_token text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');

create table verified_hosts (
  host        text not null,
  owner_id    uuid not null references owners (id) on delete cascade,
  verified_at timestamptz not null default now(),
  primary key (host, owner_id)
);

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
