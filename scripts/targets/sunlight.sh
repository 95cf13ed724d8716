#!/usr/bin/env bash
# A real static-ct-api log on loopback: Sunlight for submissions, Skylight for the read side, both over plain HTTP.
#   SUNLIGHT_BIN=sunlight SUNLIGHT_KEYGEN_BIN=sunlight-keygen SKYLIGHT_BIN=skylight ROOTS_PEM=roots.pem \
#     scripts/targets/sunlight.sh up
#   RUN=FOLDER scripts/targets/sunlight.sh down|status
# `up` prints what it writes to $RUN/env: RUN, LOG_URL (submissions), MONITORING_URL, LOG_ORIGIN, LOG_KEY_PEM (a file),
# LOG_KEY_B64 (SPKI, DER), LOG_FOLDER. Exit 3 when a binary is not set: their module is on no registry.
# Settings: PERIOD_MS, POOL_SIZE (0: no limit), NOT_AFTER_START, NOT_AFTER_LIMIT (RFC 3339).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/processes.sh"

PERIOD_MS=${PERIOD_MS:-200}
POOL_SIZE=${POOL_SIZE:-0}
NOT_AFTER_START=${NOT_AFTER_START:-2024-01-01T00:00:00Z}
NOT_AFTER_LIMIT=${NOT_AFTER_LIMIT:-2040-01-01T00:00:00Z}
processes=(skylight sunlight)

up() {
  binary SUNLIGHT_BIN
  binary SUNLIGHT_KEYGEN_BIN
  binary SKYLIGHT_BIN
  need openssl curl python3
  [[ -n ${ROOTS_PEM:-} ]] || die "ROOTS_PEM must name the PEM file of the roots that the log accepts" 2
  run_folder up
  printf 'run folder: %s\n' "$RUN"
  trap 'stop_all "${processes[@]}" >&2' EXIT

  local port read_port
  read -r port read_port < <(free_ports 2)
  cp "$ROOTS_PEM" "$RUN/roots.pem"
  log_key
  submissions
  reads
  publish "RUN=$RUN" "LOG_URL=http://127.0.0.1:$port/sun" "MONITORING_URL=http://127.0.0.1:$read_port/sun/read" \
    "LOG_ORIGIN=127.0.0.1/sun" "LOG_KEY_PEM=$RUN/log-key.pub.pem" \
    "LOG_KEY_B64=$(openssl pkey -pubin -in "$RUN/log-key.pub.pem" -outform DER | base64 -w0)" "LOG_FOLDER=$RUN/data"
  trap - EXIT
}

# The seed is written here, since sunlight-keygen makes the file that it writes immutable. Versions differ in -log.
log_key() {
  head -c 32 /dev/urandom >"$RUN/seed.bin"
  { "$SUNLIGHT_KEYGEN_BIN" -f "$RUN/seed.bin" -log https://127.0.0.1/sun >"$RUN/keygen" 2>"$RUN/log/keygen.log"; } ||
    "$SUNLIGHT_KEYGEN_BIN" -f "$RUN/seed.bin" >"$RUN/keygen" 2>"$RUN/log/keygen.log" ||
    { tail -n 20 "$RUN/log/keygen.log" >&2; die "sunlight-keygen failed"; }
  # The first key that it prints is the ECDSA one, which signs SCTs.
  sed -n '/BEGIN PUBLIC KEY/,/END PUBLIC KEY/p; /END PUBLIC KEY/q' "$RUN/keygen" >"$RUN/log-key.pub.pem"
  grep -q 'END PUBLIC KEY' "$RUN/log-key.pub.pem" || die "sunlight-keygen printed no public key"
}

# The prefix must be an https URL, and is matched by host without port, and path. No acme block: plain HTTP/1.1 and h2c.
submissions() {
  python3 - "$RUN/checkpoints.db" <<'PY'
import sqlite3, sys

with sqlite3.connect(sys.argv[1]) as database:
    database.execute("CREATE TABLE checkpoints (logID BLOB PRIMARY KEY, body BLOB NOT NULL) STRICT")
PY
  cat >"$RUN/sunlight.yaml" <<YAML
listen: ["127.0.0.1:$port"]
checkpoints: $RUN/checkpoints.db
logs:
  - shortname: sun
    inception: "$(date -u +%F)"
    period: $PERIOD_MS
    poolsize: $POOL_SIZE
    submissionprefix: https://127.0.0.1/sun
    monitoringprefix: https://127.0.0.1/sun/read
    roots: $RUN/roots.pem
    secret: $RUN/seed.bin
    cache: $RUN/cache.db
    localdirectory: $RUN/data
    notafterstart: "$NOT_AFTER_START"
    notafterlimit: "$NOT_AFTER_LIMIT"
YAML
  start sunlight "$SUNLIGHT_BIN" -c "$RUN/sunlight.yaml"
  wait_for sunlight 30 answers "http://127.0.0.1:$port/sun/ct/v1/get-roots"
}

# Its /health is an error while the log is stale: the checkpoint is asked instead.
reads() {
  cat >"$RUN/skylight.yaml" <<YAML
listen: ["127.0.0.1:$read_port"]
logs:
  - shortname: sun
    monitoringprefix: https://127.0.0.1/sun/read
    localdirectory: $RUN/data
YAML
  start skylight "$SKYLIGHT_BIN" -c "$RUN/skylight.yaml"
  wait_for skylight 30 answers "http://127.0.0.1:$read_port/sun/read/checkpoint"
}

status() {
  run_folder status
  show "${processes[@]}"
  # shellcheck source=/dev/null
  source "$RUN/env"
  printf 'tree size %s\n' "$(curl --silent --fail --max-time 5 "$MONITORING_URL/checkpoint" | sed -n 2p)"
}

case ${1:-} in
  up) up ;;
  down) run_folder down && stop_all "${processes[@]}" ;;
  status) status ;;
  *) die "usage: ${0##*/} up|down|status" 2 ;;
esac
