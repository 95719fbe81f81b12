-- Where do requests to a package come in, and where do they go?
-- Nothing here changes when an event is overridden.
-- Ids are UUIDs of version 7: their order is the order of creation.
create table package_routes (
  id            uuid primary key,
  package_id    uuid not null references packages (id) on delete cascade,
  template_path text not null,
  -- Empty: the route only collects.
  outgoing_url  text not null,
  created_at    timestamptz not null default now()
);
create index package_routes_of_package on package_routes (package_id, id);

-- Names are in ASCII and lower case, and each is there once, whoever's it is.
create table package_domains (
  id         uuid primary key,
  package_id uuid not null references packages (id) on delete cascade,
  name       text not null,
  created_at timestamptz not null default now(),
  constraint package_domains_name_taken unique (name)
);
create index package_domains_of_package on package_domains (package_id, id);
