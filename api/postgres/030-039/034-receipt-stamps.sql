-- Which import of an owner is the later one? Its events override those of the earlier ones.
-- Receipt stamps are milliseconds, and never go back for an owner: not when a clock is set back, and not when
-- processes have clocks that differ. An import begins at a stamp after all of the owner's that are recorded here;
-- the process that receives it counts on from there.
alter table imports add column last_stamp bigint;
update imports i set last_stamp = c.stamp
from (select import_id, max(receipt_stamp) as stamp from import_chunks group by import_id) c where c.import_id = i.id;
create index imports_last_stamp on imports (owner_id, last_stamp);

-- As start_import, which programs of before still call: answers the import's first receipt stamp, or null where too
-- many run. The owner's lock orders starts, and each statement sees every start that was committed before.
create function start_stamped_import(
  new_id uuid, of_owner uuid, by_account uuid, kind text, artifact uuid, lease_seconds double precision,
  with_token text, active_max integer
) returns bigint language plpgsql as $$
declare
  first_stamp bigint;
begin
  perform from owners where id = of_owner for update;
  select greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, max(last_stamp) + 1) into first_stamp
  from imports where owner_id = of_owner;
  insert into imports (
    id, owner_id, account_id, artifact_kind, artifact_id, upload_lease, token_name, bytes, lines_received, last_stamp
  )
  select new_id, of_owner, by_account, kind, artifact, now() + make_interval(secs => lease_seconds), with_token, 0, 0,
    first_stamp
  where (select count(*) from imports where owner_id = of_owner and status = 'importing') < active_max;
  return case when found then first_stamp end;
end $$;
