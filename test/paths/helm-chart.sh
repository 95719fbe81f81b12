#!/usr/bin/env bash
# An operator with Kubernetes: lints the chart, renders it with its default values and its examples, and checks the objects
# against Kubernetes' own schemas. Fails where they are not those of test/fixtures/chart; with --update writes these.
# Builds helm and kubeconform with Go; the schemas are in kubernetes-validate, from PyPI. Both stay in ~/.cache.
set -euo pipefail
cd "$(dirname "$0")/../.."

HELM=helm.sh/helm/v3/cmd/helm@v3.22.0
KUBECONFORM=github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
SCHEMAS=kubernetes-validate==1.37.0
KUBERNETES=1.37.0
VERSION="$(node -p 'require("./package.json").version')"
RELEASE=maintainer-toolchain

tools="${XDG_CACHE_HOME:-$HOME/.cache}/maintainer-toolchain/helm-chart"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$tools/bin"
for module in "$HELM" "$KUBECONFORM"; do
  [ -x "$tools/bin/$(basename "${module%@*}")" ] || GOBIN="$tools/bin" go install "$module"
done
schemas="$tools/schemas/kubernetes_validate/kubernetes-json-schema/v$KUBERNETES-local-strict"
if [ ! -d "$schemas" ]; then
  python3 -m pip install --quiet --no-deps --target "$tools/schemas" "$SCHEMAS"
  # They name one another on a server; here they are files.
  sed -i 's#"\$id": #"$comment": #; s#"/api/_definitions.json#"_definitions.json#' "$schemas"/*.json
fi
PATH="$tools/bin:$PATH"

# Of everything but the version, which a release changes.
digest() {
  find deploy/chart -type f ! -name Chart.yaml | LC_ALL=C sort | xargs cat | sha256sum | cut -d ' ' -f 1
}

# render NAME [--values FILE]
render() {
  echo "# sha256 of the chart: $(digest)"
  helm template "$RELEASE" deploy/chart --namespace maintainer-toolchain --kube-version "$KUBERNETES" "${@:2}" |
    sed "s#\(/maintainer-toolchain:\)$VERSION#\1VERSION#"
}

check() {
  local name=$1
  helm lint --quiet --strict deploy/chart --kube-version "$KUBERNETES" "${@:2}"
  render "$@" > "$work/$name.yaml"
  kubeconform -strict -summary -kubernetes-version "$KUBERNETES" -skip "$CUSTOM" \
    -schema-location "$schemas/{{.ResourceKind}}{{.KindSuffix}}.json" \
    "$work/$name.yaml"
  grep -E "^kind: (${CUSTOM//,/|})$" "$work/$name.yaml" | sed 's/^kind: /NOT CHECKED, no schema here: /' || true
}

# Of the operator of ClickHouse and of KEDA.
CUSTOM=ClickHouseInstallation,ClickHouseKeeperInstallation,ScaledObject

check embedded
for values in deploy/chart/examples/*.yaml; do
  check "$(basename "$values" .yaml)" --values "$values"
done

if [ "${1:-}" = --update ]; then
  mkdir -p test/fixtures/chart
  cp "$work"/*.yaml test/fixtures/chart/
  echo "wrote test/fixtures/chart"
else
  diff -r "$work" test/fixtures/chart
  echo "as in test/fixtures/chart"
fi
