#!/usr/bin/env bash
# A maintainer with an nginx log: serves files with nginx, imports its log, reads the numbers, imports the log again.
# Without nginx, a log of nginx that is in the repository. Needs Node, curl.
source "$(dirname "${BASH_SOURCE[0]}")/with-service.sh"

serve_with_nginx() {
  mkdir -p "$WORK/www/releases"
  echo 'a release' > "$WORK/www/releases/tool-1.4.0.tgz"
  echo 'a release' > "$WORK/www/releases/tool-1.5.0.tgz"
  cat > "$WORK/nginx.conf" <<END
daemon off; master_process off; pid $WORK/pid; events {}
http {
  access_log $WORK/access.txt combined;
  client_body_temp_path $WORK/a; proxy_temp_path $WORK/b; fastcgi_temp_path $WORK/c; uwsgi_temp_path $WORK/d; scgi_temp_path $WORK/e;
  server { listen unix:$WORK/nginx.sock; root $WORK/www; }
}
END
  nginx -e stderr -p "$WORK" -c "$WORK/nginx.conf" &
  OTHERS+=($!)
  until_ok test -S "$WORK/nginx.sock"
}

fetch() { curl -sS -o /dev/null --unix-socket "$WORK/nginx.sock" "$@"; }

step "A web server writes its log"
if has nginx; then
  serve_with_nginx
  for version in 1.4.0 1.4.0 1.5.0; do fetch "http://files.example/releases/tool-$version.tgz" -A 'curl/8.5.0'; done
  fetch http://files.example/releases/tool-9.9.9.tgz
  fetch http://files.example/favicon.ico
  fetch -I http://files.example/releases/tool-1.4.0.tgz
  DAY=$(date -u +%F)
  PATTERN='/releases/tool-{version}.tgz' WANTED=3
else
  echo "nginx is not installed: a log of nginx 1.22 out of the repository"
  sed 's#/releases/tool-9.9.9#/gone#' test/fixtures/access-logs/nginx.txt > "$WORK/access.txt"
  DAY=2026-11-22
  PATTERN='' WANTED=
fi
cat "$WORK/access.txt"

step "The service starts, and the maintainer makes an account and a package"
start_service
create_acme
api /v1/organizations/acme/packages -d '{"name": "tool", "shortDescription": "A tool"}' > /dev/null

import_log() {
  npx maintainer-toolchain import "$WORK/access.txt" --to acme/tool --format combined ${PATTERN:+--path "$PATTERN"} "$@" ||
    [ $? = 2 ] # some lines are no requests
}

step "The log is imported"
import_log

step "The numbers"
api "/v1/organizations/acme/aggregates?startDate=$DAY&endDate=$(date -u -d "$DAY + 1 day" +%F)" | tee "$WORK/first.ndjson"
[ -n "$WANTED" ] && expect "downloads" "$WANTED" "$(downloads tool "$DAY" "$(date -u -d "$DAY + 1 day" +%F)")"

step "The same log, sent again, changes nothing"
import_log --again
api "/v1/organizations/acme/aggregates?startDate=$DAY&endDate=$(date -u -d "$DAY + 1 day" +%F)" > "$WORK/second.ndjson"
cmp "$WORK/first.ndjson" "$WORK/second.ndjson" || fail "the second import changed a number"

step "Done: $SECONDS s from nothing"
