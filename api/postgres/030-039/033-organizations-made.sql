-- Who made an organization? The quota of organizations is of those that an account made.
-- Nothing here changes when an event is overridden.
-- Organizations of before count for nobody.
alter table organizations add column made_by uuid references accounts (id) on delete set null;
create index organizations_made_by on organizations (made_by) where made_by is not null;
