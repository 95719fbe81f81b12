-- How is a text looked for whatever its case? An override of events changes nothing about it.
-- With ICU in all alphabets; `lower` alone would follow the locale of the database, which may know ASCII only. A
-- PostgreSQL that was built without ICU does with that.
do $$
declare
  folded text := case
    when exists (select from pg_collation where collname = 'und-x-icu') then 'lower($1 collate "und-x-icu")'
    else 'lower($1)' end;
begin
  execute format('create function fold_case(text) returns text language sql immutable strict parallel safe as %L',
    'select ' || folded);
end $$;
