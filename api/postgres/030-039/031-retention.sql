-- Before which day were events removed, because the service keeps them only for so long?
-- Overrides of events of these days are refused: nothing could take the earlier version out of the numbers.
create table events_removed (
  only_row boolean primary key default true check (only_row),
  before   date not null
);

create index audit_entries_by_age on audit_entries (created_at);
