-- At which stage of adoption is which company, since when and why?
-- Counted from ClickHouse by a job; an override counts there. What was announced is never rewritten.

-- How much a download or a view is worth.
alter table packages add column importance text not null default 'medium' check (importance in ('low', 'medium', 'high'));
alter table pixels add column importance text not null default 'medium' check (importance in ('low', 'medium', 'high'));

-- As of which time an owner's companies were looked at last. A run with an earlier one changes nothing.
create table funnel_runs (
  owner_id uuid primary key references owners (id) on delete cascade,
  as_of    timestamptz not null
);

create table funnel_companies (
  owner_id   uuid not null references owners (id) on delete cascade,
  -- In ClickHouse's order, in which a run comes by.
  domain     text collate "C" not null,
  name       text not null,
  -- Null until a rule places it for the first time.
  stage      text check (stage in ('interest', 'investigation', 'experimentation', 'ongoing-usage', 'inactive')),
  since      timestamptz check ((since is null) = (stage is null)),
  -- Whether it ever was at investigation or higher.
  engaged    boolean not null,
  score      float8 not null,
  downloads  bigint not null,
  views      bigint not null,
  -- Null when nothing is left of its activity.
  first_seen date,
  last_seen  date,
  primary key (owner_id, domain)
);

-- Ids are UUIDs of version 7: their order is the order in which changes were made.
create table funnel_changes (
  id         uuid primary key,
  owner_id   uuid not null references owners (id) on delete cascade,
  domain     text collate "C" not null,
  old_stage  text,
  new_stage  text not null,
  -- The rule that applied.
  cause      text not null,
  changed_at timestamptz not null
);
create index funnel_changes_of_company on funnel_changes (owner_id, domain, id desc);

-- By how many companies did a stage grow on a day? Their sum up to a day is how many were there at its end.
create table funnel_growth (
  owner_id  uuid not null references owners (id) on delete cascade,
  date      date not null,
  stage     text not null,
  companies integer not null,
  primary key (owner_id, date, stage)
);
