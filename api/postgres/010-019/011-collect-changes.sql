-- What of that which live collection serves from memory has just changed?
-- Nothing here changes when an event is overridden.
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
