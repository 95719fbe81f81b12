#!/usr/bin/env bash
# Makes the images that the Dockerfile and the Compose files name, where they can be neither found nor pulled: stand-ins under
# their names, of Debian's packages, this machine's Node, Kafka from Maven, and the ClickHouse engine that npm has. For tests alone.
# Needs root, debootstrap, Java 17, Maven, and what `npm ci` and `npm run build` leave here. A stand-in of ClickHouse is one server
# without replicas, and there is none of Keeper.
set -euo pipefail
cd "$(dirname "$0")/../.."

LABEL=maintainer-toolchain.stand-in
base=maintainer-toolchain-stand-in:base
export DOCKER_BUILDKIT=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
  local image
  for image in $(images); do
    if is_there "$image"; then
      say "$image: $(origin "$image")"
    elif timeout 60 docker pull --quiet "$image" > /dev/null 2>&1; then
      say "$image: pulled"
    else
      stand_in "$image" && say "$image: NOT THE REAL ONE. No registry gives it, so a stand-in was made"
    fi
  done
}

images() {
  sed -n 's/^ARG NODE_IMAGE=//p' deploy/Dockerfile
  sed -n 's/^ *image: \(.*:.*\)/\1/p' deploy/compose*.yaml | grep -v '^maintainer-toolchain:' | sort -u
}

say() { printf 'IMAGE %s\n' "$*"; }
is_there() { docker image inspect "$1" > /dev/null 2>&1; }
origin() {
  [ -z "$(docker image inspect --format "{{index .Config.Labels \"$LABEL\"}}" "$1")" ] && echo "found" && return
  echo "NOT THE REAL ONE. It is a stand-in that was made earlier"
}

stand_in() {
  is_there "$base" || make_base
  case $1 in
    node:*) node_files && build "$1" node ;;
    postgres:*) build "$1" postgres ;;
    apache/kafka:*) kafka_files && build "$1" kafka ;;
    clickhouse/clickhouse-server:*)
      is_there "$(images | head -n 1)" || stand_in "$(images | head -n 1)"
      clickhouse_files && build "$1" clickhouse --build-arg NODE_IMAGE="$(images | head -n 1)"
      ;;
    *) say "$1: NONE. No package has it; what needs it is skipped" && return 1 ;;
  esac
}

build() {
  cp -r test/docker/stand-ins/. "$work"
  docker build --quiet --tag "$1" --label "$LABEL=true" --target "$2" --build-arg BASE="$base" "${@:3}" "$work" > /dev/null
}

make_base() {
  debootstrap --variant=minbase bookworm "$work/root" http://deb.debian.org/debian > "$work/debootstrap.log" || { tail "$work/debootstrap.log"; return 1; }
  # Packages may come through a proxy with an authority of this machine's own.
  install -D /etc/ssl/certs/ca-certificates.crt "$work/root/etc/ssl/certs/ca-certificates.crt"
  rm -rf "$work/root/var/cache/apt/archives"/*.deb "$work/root/var/lib/apt/lists"/*
  tar --directory "$work/root" --create . | docker import --change "LABEL $LABEL=true" - "$base" > /dev/null
  rm -rf "$work/root"
}

node_files() {
  local modules
  modules=$(npm root --global)
  install -D "$(node -p process.execPath)" "$work/node/bin/node"
  mkdir -p "$work/node/lib/node_modules" "$work/node/etc"
  cp -r "$modules/npm" "$work/node/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/node/bin/npm"
  echo 'cafile=/etc/ssl/certs/ca-certificates.crt' > "$work/node/etc/npmrc"
}

kafka_files() {
  mvn --quiet --batch-mode -Dstyle.color=never --file=test/broker/pom.xml -Dkafka.version="$(images | sed -n 's,^apache/kafka:,,p')" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$work/kafka/libs"
  jlink --add-modules java.base,java.desktop,java.management,java.naming,java.security.jgss,java.security.sasl,java.sql,jdk.crypto.ec,jdk.unsupported \
    --strip-debug --no-man-pages --no-header-files --output "$work/kafka/java"
}

clickhouse_files() {
  local modules="$work/clickhouse/node_modules"
  mkdir -p "$modules/@yuuang" "$modules/@chdb"
  cp package.json "$work/clickhouse"
  cp -rL node_modules/ffi-rs "$modules"
  cp -rL node_modules/@yuuang/. "$modules/@yuuang"
  cp -rL node_modules/@chdb/. "$modules/@chdb"
  cp -r dist "$work/clickhouse/dist"
}

main
