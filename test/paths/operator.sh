#!/usr/bin/env bash
# The path of an operator: fills a service, stops it in the middle of an import, starts it again, backs up beside an import,
# loses the disk, restores, and has the same exports. Run it on a clean clone, after `npm ci`: test/paths/operator.sh. Takes a
# few minutes and works below a temporary folder.
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
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
toolchain() { node dist/deploy/main.js "$@"; }
api() { curl -sS --fail-with-body "$MAINTAINER_URL$1" -H "Authorization: Bearer $MAINTAINER_TOKEN" "${@:2}"; }

start() {
  rm -f "$DATA_DIR/endpoints.json"
  # Not by the function: then $! would be a shell.
  node dist/deploy/main.js start > "$work/service.log" 2>&1 &
  service=$!
  until [ -e "$DATA_DIR/endpoints.json" ]; do
    kill -0 "$service" || { cat "$work/service.log"; exit 1; }
    sleep 0.2
  done
  MAINTAINER_URL=$(sed -n 's/.*"api": "\([^"]*\)".*/\1/p' "$DATA_DIR/endpoints.json")
  export MAINTAINER_URL
}

stop() {
  kill -TERM "$service"
  wait "$service" || { cat "$work/service.log"; fail "the service ended with status $?"; }
  service=
}

# How many event imports of acme have this status.
imports_with() { api /v2/imports/acme | grep -o "\"status\":\"$1\"" | wc -l; }

# send FILE: as a program that has only HTTP.
send() { gzip -c "$1" | api "/v2/packages/acme/$package/import" -X POST -T - -H 'Content-Encoding: gzip' > "$work/answer"; }

until_done() {
  for _ in $(seq 600); do [ "$(imports_with done)" -eq "$1" ] && return; sleep 0.2; done
  fail "there are not $1 imports done after two minutes"
}

# export_month MONTH NEXT TO
export_month() {
  api "/v1/organizations/acme/aggregates?startDate=$1-01&endDate=$2-01" | sort > "$3.aggregates"
  api "/v1/packages/web/events/all.csv?startDate=$1-01&endDate=$2-01" | sort > "$3.events"
}

# events FROM TO DAY VERSION: each with an id, so that a second one overrides the first
events() {
  seq "$1" "$2" | awk -v day="$3" -v version="$4" '{ printf "{\"$time\": \"%sT%02d:00:00Z\", \"$unique_id\": \"pull-%d\", " \
    "\"$remote_address\": \"18.66.%d.%d\", \"$user_agent\": \"docker/27.3.1 os/linux\", \"$version\": \"%s\"}\n", \
    day, $1 % 24, $1, $1 / 250 % 250, $1 % 250, version }'
}

step "build"
npm run -s build

step "start on an empty disk, import and override"
export DATA_DIR=$work/data PORT=0 COLLECT_PORT=0 METRICS_PORT=0
start
MAINTAINER_TOKEN=$(toolchain admin create-account --username ada --email ada@example.org)
export MAINTAINER_TOKEN
api /v1/organizations -d '{"name": "acme", "description": "Acme", "billingEmail": "billing@example.org"}' > "$work/answer"
package=$(api /v1/organizations/acme/packages -d '{"name": "web", "shortDescription": "The web image", "libraryType": "docker",
  "backendUrl": "https://registry.example.org/acme/web"}' | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
toolchain admin grant-export acme
events 1 20000 2026-10-02 1.3.0 > "$work/first.ndjson"
events 15001 16000 2026-10-03 1.3.1 > "$work/second.ndjson"
send "$work/first.ndjson"
until_done 1
send "$work/second.ndjson"
until_done 2
export_month 2026-10 2026-11 "$work/before"
[ "$(wc -l < "$work/before.events")" -eq 20001 ] || fail "20000 events were not exported"

step "stop it in the middle of an import"
events 20001 120000 2026-11-02 1.4.0 > "$work/waiting.ndjson"
send "$work/waiting.ndjson"
[ "$(imports_with importing)" -eq 1 ] || fail "the import ended before the service was stopped"
stop

step "start it again, and compare"
start
export_month 2026-10 2026-11 "$work/again"
cmp "$work/before.aggregates" "$work/again.aggregates"
cmp "$work/before.events" "$work/again.events"

step "override events, and wait for the import that was under way"
events 16001 17000 2026-10-04 1.3.2 > "$work/third.ndjson"
toolchain import "$work/third.ndjson" --to acme/web
until_done 4
export_month 2026-10 2026-11 "$work/overridden"
export_month 2026-11 2026-12 "$work/went-on"
[ "$(wc -l < "$work/overridden.events")" -eq 20001 ] || fail "an override counted beside the event that it overrides"
[ "$(grep -c '1\.3\.2' "$work/overridden.events")" -eq 1000 ] || fail "events were not overridden"
[ "$(wc -l < "$work/went-on.events")" -eq 100001 ] || fail "the import that was under way did not go on"
echo "All of them count once."

step "import, override, and back up while another import is under way"
events 100001 110000 2026-11-03 1.4.1 > "$work/fourth.ndjson"
events 120001 220000 2026-11-04 1.5.0 > "$work/fifth.ndjson"
toolchain import "$work/fourth.ndjson" --to acme/web
toolchain import "$work/fifth.ndjson" --to acme/web --no-wait
toolchain admin backup "$work/backup"
# Sent before: this only waits for its end.
toolchain import "$work/fifth.ndjson" --to acme/web
export_month 2026-11 2026-12 "$work/before"

step "lose the disk"
kill -KILL "$service"
wait "$service" 2>/dev/null || true
rm -rf "$DATA_DIR"

step "restore, start, and wait for the import that was under way"
toolchain admin restore "$work/backup"
start
toolchain import "$work/fifth.ndjson" --to acme/web
export_month 2026-11 2026-12 "$work/after"
export_month 2026-10 2026-11 "$work/october"

step "compare"
cmp "$work/before.aggregates" "$work/after.aggregates"
cmp "$work/before.events" "$work/after.events"
cmp "$work/overridden.events" "$work/october.events"
cmp "$work/overridden.aggregates" "$work/october.aggregates"
wc -l "$work/after.aggregates" "$work/after.events"
[ "$(wc -l < "$work/after.events")" -eq 200001 ] || fail "not every event is there"
echo "The restored service has the same exports."
