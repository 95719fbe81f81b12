-- Whose is the host that docker images are pulled from?
-- Nothing here changes when an event is overridden.
-- The owner's whose packages use it: no other's package has it here, or among its domains. Programs see to that under
-- a lock on the host. Null where a package has no public URL, or one with a host that is another owner's.
alter table packages add column public_host text;
create index packages_by_public_host on packages (public_host) where public_host is not null;

-- Where several owners have one host, who used it first keeps it: as far as the audit log tells, since the package has
-- a URL there, else since it exists. The others' domains there go, and their images are not served. A host that is not
-- plain ASCII is nobody's until a package that has it is saved again.
create function pg_temp.host_of(url text) returns text language sql immutable as $$
  select substring(
    regexp_replace(lower(substring(url from '^[Hh][Tt][Tt][Pp][Ss]?://([^/:?#]+)') collate "C"), '[.]$', '')
    from '^[a-z0-9._-]+$')
$$;

create temporary table host_uses on commit drop as
  select p.owner_id, p.id as package_id, null::uuid as domain_id, pg_temp.host_of(p.public_url) as host,
    coalesce(min(e.created_at), p.created_at) as since
  from packages p
  left join audit_entries e on e.owner_id = p.owner_id and e.target_kind = 'package' and e.target_id = p.id::text
    and pg_temp.host_of(e.changes ->> 'publicUrl') = pg_temp.host_of(p.public_url)
  where p.library_type = 'docker' and pg_temp.host_of(p.public_url) is not null
  group by p.id
  union all
  select p.owner_id, p.id, d.id, d.name, d.created_at
  from package_domains d join packages p on p.id = d.package_id;

create temporary table host_owners on commit drop as
  select distinct on (host) host, owner_id from host_uses order by host, since, package_id, domain_id;

update packages p set public_host = u.host
from host_uses u join host_owners o using (host, owner_id)
where u.package_id = p.id and u.domain_id is null;

delete from package_domains d using host_uses u, host_owners o
where u.domain_id = d.id and o.host = u.host and o.owner_id <> u.owner_id;
