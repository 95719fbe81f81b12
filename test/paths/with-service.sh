# Sourced by the paths: starts the service of this clone on free ports and an empty data directory, and ends it at exit.
# Gives MAINTAINER_URL, COLLECT_URL, DATA_DIR, a folder $WORK for files, and the functions below.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

WORK=$(mktemp -d)
export DATA_DIR=$WORK/data
export PORT=0 COLLECT_PORT=0 METRICS_PORT=0

step() { printf '\n== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" > /dev/null; }

# Compares an answer with what this path promises.
expect() {
  local what=$1 wanted=$2 got=$3
  [ "$got" = "$wanted" ] || fail "$what: expected '$wanted', got '$got'"
  printf '%s: %s\n' "$what" "$got"
}

# Runs a command each 100 ms until it succeeds, at most 60 s.
until_ok() {
  for _ in $(seq 600); do "$@" && return; sleep 0.1; done
  fail "still not true after a minute: $*"
}

endpoint() { node -p "JSON.parse(require('fs').readFileSync('$DATA_DIR/endpoints.json', 'utf8')).$1"; }
is_ready() { [ -f "$DATA_DIR/endpoints.json" ] && curl -sSf "$(endpoint api)/readyz" > /dev/null 2>&1; }

# start_service [VARIABLE=value...]
start_service() {
  env "$@" dist/deploy/main.js start > "$WORK/service.log" 2>&1 &
  SERVICE=$!
  until_ok is_ready
  MAINTAINER_URL=$(endpoint api) COLLECT_URL=$(endpoint collect)
  export MAINTAINER_URL COLLECT_URL
}

stop_service() {
  [ -z "${SERVICE:-}" ] && return
  kill "$SERVICE" 2> /dev/null || true
  wait "$SERVICE" 2> /dev/null || true
  SERVICE=
}

OTHERS=()
clean_up() {
  for pid in "${OTHERS[@]}"; do kill "$pid" 2> /dev/null || true; done
  stop_service
  rm -rf "$WORK"
}
trap clean_up EXIT

api() { curl -sS --fail-with-body -w '\n' "$MAINTAINER_URL$1" -H "Authorization: Bearer $MAINTAINER_TOKEN" "${@:2}"; }

# One account, one organization that may export.
create_acme() {
  MAINTAINER_TOKEN=$(npm run --silent admin -- create-account --username ada --email ada@example.org)
  export MAINTAINER_TOKEN
  api /v1/organizations -d '{"name": "acme", "description": "Acme", "billingEmail": "billing@example.org"}' > /dev/null
  npm run --silent admin -- grant-export acme
}

# The total of the package $1 between $2 and $3, as an analyst reads it.
downloads() {
  api "/v2/acme/stats?package=$1&startDate=$2&endDate=$3" | node -p 'JSON.parse(require("fs").readFileSync(0)).totals.downloads'
}
