#!/bin/bash
# Makes the cluster, the user and the database at the first start, as the entry of the official image does, then runs the server.
set -e
[ "$1" = postgres ] || exec "$@"
export PGDATA=/var/lib/postgresql/18/docker
if [ "$(id -u)" = 0 ]; then
  install --directory --owner=postgres --mode=0700 "$PGDATA" /var/run/postgresql
  chown postgres /var/lib/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --encoding=UTF8 --locale=C.UTF-8 --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") > /dev/null
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  # Its log says that it is ready, as that of the official image: those who wait for a server count this line twice.
  pg_ctl --options="-c listen_addresses=''" --wait start
  createdb --username="$POSTGRES_USER" "${POSTGRES_DB:-$POSTGRES_USER}"
  pg_ctl --mode=fast --wait stop > /dev/null
fi
exec "$@"
