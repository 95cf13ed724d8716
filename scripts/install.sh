#!/usr/bin/env bash
# Installs what the gate and scripts/targets need beside Rust, Go (1.26 or later), python3 and a C compiler:
# Debian packages (as root, or through sudo), and the servers and cargo-deny into a folder of their own.
# Safe to run again: what is there already is left alone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

TRILLIAN=v1.8.0
CT_GO=v1.4.0
CARGO_DENY=0.20.2

# One row for each: the command that proves it is there, and the Debian package that brings it.
debian=(
  "openssl openssl"
  "curl curl"
  "jq jq"
  "nginx nginx-light"
  "wrk wrk"
  "h2load nghttp2-client"
  "shellcheck shellcheck"
  "valgrind valgrind"
  "mariadbd mariadb-server-core"
  "mariadb mariadb-client-core"
)

debian_packages() {
  local row packages=()
  for row in "${debian[@]}"; do command -v "${row% *}" >/dev/null || packages+=("${row#* }"); done
  ((${#packages[@]} > 0)) || return 0
  printf 'Debian packages: %s\n' "${packages[*]}"
  as_root apt-get update -qq
  # A package that starts a service would take a port of the machine; these are started by the scripts alone.
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# go_programs MODULE VERSION PACKAGE...: those of the module's programs of which none is there that says it is of that version. The
# tags leave out what nothing here starts: Spanner, CockroachDB and PostgreSQL for storage, and Kubernetes for elections.
go_programs() {
  local module=$1 version=$2 package missing=()
  shift 2
  for package in "$@"; do
    is_there "$HAMMER_TARGETS_BIN/${package##*/}" "$module" "$version" || missing+=("$module/$package@$version")
  done
  ((${#missing[@]} > 0)) || return 0
  printf '%s\n' "${missing[@]}"
  GOBIN=$HAMMER_TARGETS_BIN go install -tags mysql,etcd -ldflags=-s "${missing[@]}"
}

# is_there PATH MODULE VERSION: a Go program that says it is of that version of the module.
is_there() {
  [[ -x $1 ]] && go version -m "$1" | awk -v m="$2" -v v="$3" '$1 == "mod" && $2 == m && $3 == v { found = 1 } END { exit !found }'
}

go_servers() {
  go_programs github.com/google/trillian "$TRILLIAN" cmd/{trillian_log_server,trillian_log_signer,createtree}
  go_programs github.com/google/certificate-transparency-go "$CT_GO" trillian/ctfe/ct_server
  local schema=$HAMMER_TARGETS_BIN/trillian-storage.sql
  if [[ ! -s $schema ]]; then
    local source
    source=$(go mod download -json "github.com/google/trillian@$TRILLIAN" | jq -r .Dir)
    install -m 644 "$source/storage/mysql/schema/storage.sql" "$schema"
  fi
}

cargo_deny() {
  [[ $("$HAMMER_TARGETS_BIN/cargo-deny" --version 2>/dev/null) == "cargo-deny $CARGO_DENY" ]] && return
  printf 'cargo-deny %s\n' "$CARGO_DENY"
  local root
  root=$(mktemp -d)
  # It runs for seconds: what its own profile spends on optimisation and link-time optimisation would never be had back.
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
    CARGO_TARGET_DIR=$root/target cargo install cargo-deny --version "$CARGO_DENY" --locked --quiet --root "$root"
  install -m 755 "$root/bin/cargo-deny" "$HAMMER_TARGETS_BIN/cargo-deny"
  rm -rf "$root"
}

main() {
  local tool
  for tool in cargo go python3 cc; do
    command -v "$tool" >/dev/null || die "$tool is missing; README.md names what must be there first"
  done
  mkdir -p "$HAMMER_TARGETS_BIN"
  debian_packages
  go_servers
  cargo_deny
}

main
