-- Which time of a scheduled job was done last?
-- Nothing here changes when an event is overridden.

-- Processes run the same schedule: whoever comes late to a time finds here that it is done.
create table scheduled_runs (
  job     text primary key,
  done_at timestamptz not null,
  -- The time that was done, as the schedule has it; `done_at` is when.
  due_at  timestamptz not null
);
