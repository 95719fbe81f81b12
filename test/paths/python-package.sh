#!/usr/bin/env bash
# A maintainer with a Python package: the files stay in their index, users install through the maintainer's host.
# A small index runs on this machine. Needs Node, curl, python3 with pip.
source "$(dirname "${BASH_SOURCE[0]}")/with-service.sh"
has python3 || fail "python3 is not installed"

step "An index with acme-tools 1.4.0, which needs acme-base"
mkdir -p "$WORK/index/simple/acme-tools" "$WORK/index/simple/acme-base"
python3 test/support/collect/make-wheel.py "$WORK/index/simple/acme-tools" acme_tools 1.4.0 acme-base
python3 test/support/collect/make-wheel.py "$WORK/index/simple/acme-base" acme_base 1.0.0
for project in acme-tools acme-base; do
  file=$(basename "$WORK/index/simple/$project"/*.whl)
  echo "<!DOCTYPE html><a href=\"$file\">$file</a>" > "$WORK/index/simple/$project/index.html"
done
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$WORK/index" > "$WORK/index.txt" 2>&1 &
OTHERS+=($!)
until_ok grep -q 'port' "$WORK/index.txt"
INDEX=http://127.0.0.1:$(grep -o 'port [0-9]*' "$WORK/index.txt" | cut -d' ' -f2)/simple/
echo "$INDEX"

step "The service starts, and the maintainer makes an account, a package and a domain"
start_service COLLECT_ALLOW_PRIVATE_UPSTREAMS=true # the index is on this machine
create_acme
api /v1/organizations/acme/packages -d '{"name": "acme-tools", "shortDescription": "Our tools", "libraryType": "pypi",
  "repositoryURL": "'"$INDEX"'"}' > /dev/null
api /v1/packages/acme-tools/domains -d '{"name": "pkgs.acme.example"}' > /dev/null
node --import tsx test/paths/serve-dns.ts "${COLLECT_URL##*:}" > "$WORK/dns.txt" &
OTHERS+=($!)
until_ok test -s "$WORK/dns.txt"

step "A user installs it"
python3 -m venv "$WORK/venv"
http_proxy=$(cat "$WORK/dns.txt") no_proxy='' "$WORK/venv/bin/pip" install --disable-pip-version-check --no-cache-dir --isolated \
  --index-url http://pkgs.acme.example/simple/ --trusted-host pkgs.acme.example --trusted-host 127.0.0.1 acme-tools

step "The numbers: one download, the dependency is not counted"
TODAY=$(date -u +%F) TOMORROW=$(date -u -d tomorrow +%F)
one_download() { [ "$(downloads acme-tools "$TODAY" "$TOMORROW")" = 1 ]; }
until_ok one_download
api "/v1/organizations/acme/aggregates?startDate=$TODAY&endDate=$TOMORROW" | tee "$WORK/numbers.ndjson"
grep -q '"client":"pip"' "$WORK/numbers.ndjson" || fail "the client is not pip"

step "Done: $SECONDS s from nothing"
