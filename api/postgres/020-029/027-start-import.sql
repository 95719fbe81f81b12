-- May an owner start another import now? Inserts it and answers true, or answers false where too many run.
-- One call in place of three statements: senders of one owner wait for one another only as long as the server works,
-- not while a busy program sends the next statement. The count is a statement of its own, which begins after the lock
-- of the owner, so it sees every earlier start.
create function start_import(
  new_id uuid, of_owner uuid, by_account uuid, kind text, artifact uuid, lease_seconds double precision,
  with_token text, active_max integer
) returns boolean language plpgsql as $$
begin
  perform from owners where id = of_owner for update;
  insert into imports (
    id, owner_id, account_id, artifact_kind, artifact_id, upload_lease, token_name, bytes, lines_received
  )
  select new_id, of_owner, by_account, kind, artifact, now() + make_interval(secs => lease_seconds), with_token, 0, 0
  where (select count(*) from imports where owner_id = of_owner and status = 'importing') < active_max;
  return found;
end $$;
