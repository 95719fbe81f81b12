#!/usr/bin/env bash
# A maintainer with a Docker image: the image stays in its registry, users pull it from the maintainer's host.
# A registry that behaves as ghcr.io runs on this machine. Needs Node, curl; skopeo pulls where it is installed, else curl.
source "$(dirname "${BASH_SOURCE[0]}")/with-service.sh"

step "A registry with the image acme/web"
node --import tsx test/paths/serve-registry.ts > "$WORK/registry.txt" &
OTHERS+=($!)
until_ok test -s "$WORK/registry.txt"
REGISTRY=$(cat "$WORK/registry.txt")
echo "$REGISTRY"

step "The service starts, and the maintainer makes an account and a package"
start_service COLLECT_ALLOW_PRIVATE_UPSTREAMS=true # the registry is on this machine
create_acme
api /v1/organizations/acme/packages -d '{"name": "web", "shortDescription": "The image", "libraryType": "docker",
  "backendUrl": "'"$REGISTRY"'/acme/web", "publicUrl": "http://127.0.0.1/acme/web"}' > /dev/null

HOST=${COLLECT_URL#http://}
pull() {
  step "A user pulls $HOST/acme/web:$1"
  if has skopeo; then
    skopeo --insecure-policy --override-arch=amd64 --override-os=linux copy --src-tls-verify=false \
      "docker://$HOST/acme/web:$1" "dir:$WORK/image-$1"
  else
    curl -sSf -o /dev/null -L --max-redirs 0 "$COLLECT_URL/v2/acme/web/manifests/$1" -A docker/27.3.1 || [ $? = 47 ]
  fi
}
pull 1.4.0
pull 1.5.0
pull 1.5.0

step "The numbers"
TODAY=$(date -u +%F) TOMORROW=$(date -u -d tomorrow +%F)
three_pulls() { [ "$(downloads web "$TODAY" "$TOMORROW")" = 3 ]; }
until_ok three_pulls
api "/v1/organizations/acme/aggregates?startDate=$TODAY&endDate=$TOMORROW&breakdown=version,client" | tee "$WORK/numbers.ndjson"
expect "pulls of 1.5.0" 2 "$(grep -o '"total":[0-9]*,"version":"1.5.0"' "$WORK/numbers.ndjson" | grep -o '[0-9]*' | head -n 1)"

step "Done: $SECONDS s from nothing"
