#!/usr/bin/env bash
# The path of an operator: installs, starts, imports, backs up beside the service, loses the disk, restores, and has the same
# exports. Run it on a clean clone: test/paths/operator.sh. Takes a minute or two; works below a temporary folder; without
# INSTALL=no it runs `npm ci` first.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d "${TMPDIR:-/tmp}/operator-path-XXXXXX")
service=
finish() {
  [ -z "$service" ] || { kill -TERM "$service" && wait "$service"; } 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

step() { printf '\n== %s\n' "$*"; }
toolchain() { dist/deploy/main.js "$@"; }
api() { curl -sS --fail-with-body "$MAINTAINER_URL$1" -H "Authorization: Bearer $MAINTAINER_TOKEN" "${@:2}"; }

start() {
  # Not by the function: then $! would be a shell.
  dist/deploy/main.js start > "$work/service.log" 2>&1 &
  service=$!
  until [ -e "$DATA_DIR/endpoints.json" ]; do
    kill -0 "$service" || { cat "$work/service.log"; exit 1; }
    sleep 0.2
  done
  MAINTAINER_URL=$(sed -n 's/.*"api": "\([^"]*\)".*/\1/p' "$DATA_DIR/endpoints.json")
  export MAINTAINER_URL
}

export_all() {
  api "/v1/organizations/acme/aggregates?startDate=2026-11-01&endDate=2026-12-01" | sort > "$1.aggregates"
  api "/v1/packages/web/events/all.csv?startDate=2026-11-01&endDate=2026-12-01" | sort > "$1.events"
}

# events FROM TO DAY VERSION: each with an id, so that a second one overrides the first
events() {
  seq "$1" "$2" | awk -v day="$3" -v version="$4" '{ printf "{\"$time\": \"%sT%02d:00Z\", \"$unique_id\": \"pull-%d\", " \
    "\"$remote_address\": \"18.66.%d.%d\", \"$user_agent\": \"docker/27.3.1\", \"$version\": \"%s\"}\n", \
    day, $1 % 24, $1, $1 / 250 % 250, $1 % 250, version }' | sed 's/T\([0-9]*\):00Z/T\1:00:00Z/'
}

if [ "${INSTALL:-yes}" = yes ]; then
  step "install"
  npm ci
fi

step "start on an empty disk"
export DATA_DIR=$work/data PORT=0 COLLECT_PORT=0 METRICS_PORT=0
start
MAINTAINER_TOKEN=$(toolchain admin create-account --username ada --email ada@example.org)
export MAINTAINER_TOKEN
api /v1/organizations -d '{"name": "acme", "description": "Acme", "billingEmail": "billing@example.org"}' > "$work/answer"
api /v1/organizations/acme/packages -d '{"name": "web", "shortDescription": "The web image", "libraryType": "docker",
  "backendUrl": "https://registry.example.org/acme/web"}' > "$work/answer"
toolchain admin grant-export acme

step "import, override, and back up while another import is under way"
events 1 20000 2026-11-02 1.4.0 > "$work/first.ndjson"
events 15001 16000 2026-11-03 1.4.1 > "$work/second.ndjson"
events 20001 120000 2026-11-04 1.5.0 > "$work/third.ndjson"
toolchain import "$work/first.ndjson" "$work/second.ndjson" --to acme/web
toolchain import "$work/third.ndjson" --to acme/web --no-wait
toolchain admin backup "$work/backup"
# Sent before: this only waits for its end.
toolchain import "$work/third.ndjson" --to acme/web
export_all "$work/before"

step "lose the disk"
kill -KILL "$service"
wait "$service" 2>/dev/null || true
rm -rf "$DATA_DIR"

step "restore, start, and wait for the import that was under way"
toolchain admin restore "$work/backup"
start
toolchain import "$work/third.ndjson" --to acme/web
export_all "$work/after"

step "compare"
cmp "$work/before.aggregates" "$work/after.aggregates"
cmp "$work/before.events" "$work/after.events"
wc -l "$work/after.aggregates" "$work/after.events"
[ "$(wc -l < "$work/after.events")" -eq 120001 ]
echo "The restored service has the same exports."
