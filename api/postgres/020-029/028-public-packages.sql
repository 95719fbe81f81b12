-- How much of a package may everybody see?
-- Nothing here changes when an event is overridden.
alter table packages
  add column public text not null default 'none' check (public in ('none', 'badge', 'page'));
