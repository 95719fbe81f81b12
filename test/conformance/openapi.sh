#!/usr/bin/env bash
# Lets a stranger's tool, schemathesis (https://schemathesis.io, from PyPI), call every operation that /openapi.json
# describes, with good and bad values, on the built program: once with a token and once without (then it makes tokens
# up, so that most are refused unseen: 429). It fails where the program answers with a server error, answers what the
# document does not say, or ends. Not part of `npm test`: it needs Python 3.10 or newer and, the first time, PyPI.
set -euo pipefail

usage() {
  cat <<'END'
Usage: test/conformance/openapi.sh [--max-examples N] [--max-seconds N] [--seed N]

  --max-examples N  test cases for each operation and phase (default 15)
  --max-seconds N   the most that each of the runs may take (default 150)
  --seed N          repeats an earlier run (default 1)

The program runs on a temporary data directory and free ports. schemathesis is kept in
${CONFORMANCE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/maintainer-toolchain/conformance}. Reports are left in
the folder that is printed at the end. Exits with 1 where something was found.
END
}

version=4.32.5
examples=15
seconds=150
seed=1
while (($# > 0)); do
  case $1 in
    --max-examples) examples=$2; shift 2 ;;
    --max-seconds) seconds=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "$0")/../.."
root=$PWD
cache=${CONFORMANCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/maintainer-toolchain/conformance}
work=$(mktemp -d)
reports=$(mktemp -d)
export DATA_DIR=$work/data PORT=0 COLLECT_PORT=0 METRICS_PORT=0 ENRICH_WORKERS=1 LOG_LEVEL=info REQUESTS_PER_SECOND=1000000

if [[ ! -x $cache/bin/schemathesis ]] || [[ $("$cache/bin/schemathesis" --version) != *"$version"* ]]; then
  python3 -m venv "$cache"
  "$cache/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi

npm run build --silent
dist/deploy/main.js start > "$reports/program.log" 2>&1 &
program=$!
stop() {
  kill -TERM "$program" 2> /dev/null || true
  wait "$program" || true
  rm -rf "$work"
}
trap stop EXIT

field() { node -p "JSON.parse(require('fs').readFileSync('$DATA_DIR/endpoints.json'))['$1'] ?? ''"; }
for _ in $(seq 600); do
  [[ -f $DATA_DIR/endpoints.json ]] && break
  kill -0 "$program" || { cat "$reports/program.log"; exit 1; }
  sleep 0.2
done
api=$(field api)

token=$(dist/deploy/main.js admin create-account --username conformance --email conformance@example.org)
dist/deploy/main.js admin grant-export conformance
sent=(-H "Authorization: Bearer $token" -H 'Content-Type: application/json')
# Something to find: examples and names of the document lead to it.
curl -fsS "${sent[@]}" "$api/v1/organizations" -o /dev/null \
  -d '{"name": "acme", "description": "Acme", "billingEmail": "billing@example.org"}'
curl -fsS "${sent[@]}" "$api/v1/organizations/acme/packages" -o /dev/null \
  -d '{"name": "web", "shortDescription": "The web image"}'
dist/deploy/main.js admin grant-export acme

export SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$PWD/test/conformance PYTHONDONTWRITEBYTECODE=1
checks=not_a_server_error,status_code_conformance,content_type_conformance
checks+=,response_headers_conformance,response_schema_conformance
found=0
run() {
  local name=$1
  shift
  echo "== $name"
  local before
  before=$(wc -l < "$reports/program.log")
  # In the folder that it is in, it leaves a cache.
  cd "$work"
  "$cache/bin/schemathesis" run "$api/openapi.json" --url "$api" --checks "$checks" --max-examples "$examples" \
    --seed "$seed" --no-color --warnings off --continue-on-failure --request-timeout 20 --generation-database none \
    --report junit --report-junit-path "$reports/$name.xml" "$@" > "$reports/$name.txt" 2>&1 &
  local tests=$!
  cd "$root"
  (sleep "$seconds"; kill -TERM "$tests") 2> /dev/null &
  local clock=$!
  wait "$tests" || found=1
  kill "$clock" 2> /dev/null || true
  tail -n 400 "$reports/$name.txt"
  kill -0 "$program" || { echo "the program ended"; tail -n 20 "$reports/program.log"; exit 1; }
  tail -n "+$((before + 1))" "$reports/program.log" | grep '"msg":"request"' > "$reports/$name.log"
}
answers() { grep -oE '"status":[0-9]+' "$reports/$1.log" | grep -oE '[0-9]+' | sort | uniq -c | awk '{ printf "%s %s times  ", $2, $1 }'; }
# Rotating the token ends it: whatever comes after that is a stranger's.
run with -H "Authorization: Bearer $token" --exclude-operation-id rotateToken
refused=$(grep -cE '"status":(401|429)' "$reports/with.log" || true)
if ((refused * 4 > $(wc -l < "$reports/with.log"))); then
  echo "== with a token, $refused requests were refused as a stranger's: this run shows nothing"
  found=1
fi
run rotating -H "Authorization: Bearer $token" --include-operation-id rotateToken
run without

cases() { grep -oE '[0-9]+ generated' "$reports/$1.txt" || echo 'unknown: it was cut short'; }
echo "== test cases with a token: $(cases with); without: $(cases without)"
for name in with rotating without; do echo "== answers, $name: $(answers "$name")"; done
echo "== failed requests in the program's log: $(grep -c '"msg":"the request failed"' "$reports/program.log" || true)"
echo "== reports: $reports"
exit "$found"
