-- Since when does a run of the funnel find imports of an owner under way, whatever time it computes as of?
-- Nobody waits for longer than a day. Overrides of events are what is waited for: they count twice until they are settled.
create table funnel_waits (
  owner_id uuid primary key references owners (id) on delete cascade,
  since    timestamptz not null
);
