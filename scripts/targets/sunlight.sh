#!/usr/bin/env bash
# A real static-ct-api log on loopback: Sunlight for submissions, Skylight for the read side, both over plain HTTP.
#   ROOTS_PEM=roots.pem scripts/targets/sunlight.sh up      (hammer ct roots PLAN >roots.pem)
#   RUN=FOLDER scripts/targets/sunlight.sh restart|down|status
# `up` prints what it writes to $RUN/env: RUN, LOG_URL (submissions), MONITORING_URL, LOG_ORIGIN, LOG_KEY_PEM (a file),
# LOG_KEY_B64 (SPKI, DER), LOG_FOLDER. `restart` ends Sunlight and starts it again with the log that is there; Skylight goes on meanwhile.
# SUNLIGHT_BIN, SUNLIGHT_KEYGEN_BIN and SKYLIGHT_BIN name the programs, by paths or as they are called on PATH; without them sunlight,
# sunlight-keygen and skylight. Exit 3 when there is none, with the command that builds all of them.
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
build="GOBIN=$HAMMER_TARGETS_BIN go install filippo.io/sunlight/cmd/{sunlight,sunlight-keygen,skylight}@latest"

up() {
  binary SUNLIGHT_BIN sunlight "$build"
  binary SUNLIGHT_KEYGEN_BIN sunlight-keygen "$build"
  binary SKYLIGHT_BIN skylight "$build"
  need openssl curl python3
  need_roots
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

# The seed is written here, since sunlight-keygen makes the file that it writes immutable. Versions differ in what they want to be told:
# the prefix by -prefix or -log, nothing, or the log's name before the seed.
log_key() {
  head -c 32 /dev/urandom >"$RUN/seed.bin"
  generated -f "$RUN/seed.bin" -prefix https://127.0.0.1/sun || generated -f "$RUN/seed.bin" -log https://127.0.0.1/sun ||
    generated -f "$RUN/seed.bin" || generated 127.0.0.1/sun "$RUN/seed.bin" ||
    { tail -n 20 "$RUN/log/keygen.log" >&2; die "sunlight-keygen failed"; }
  log_key_of "$RUN/keygen" >"$RUN/log-key.pub.pem" || die "sunlight-keygen printed no ECDSA public key: $(<"$RUN/keygen")"
}

generated() { "$SUNLIGHT_KEYGEN_BIN" "$@" >"$RUN/keygen" 2>>"$RUN/log/keygen.log"; }

# log_key_of OUTPUT: in PEM the ECDSA key, which signs SCTs: in PEM below its name, or in base64 on the same line. Fails where it is no key.
log_key_of() {
  local digits
  digits=$(awk '
    /^ECDSA public key:/ { found = 1; sub(/^[^:]*:[[:space:]]*/, "") }
    found && /^-----END/ { exit }
    found && !/^-----BEGIN/ && NF { print; body = 1 }
    found && body && !pem { exit }
    found && /^-----BEGIN/ { pem = 1 }' "$1")
  base64 --decode <<<"$digits" | openssl pkey -pubin -inform DER 2>/dev/null
}

# The submission prefix must be an https URL, and is matched by host without port, and path. By the monitoring prefix a log that is started
# again reads its own checkpoint, and ends where it cannot: it has the port, and is http as Skylight is. No acme block: plain HTTP/1.1 and h2c.
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
    monitoringprefix: http://127.0.0.1:$read_port/sun/read
    roots: $RUN/roots.pem
    secret: $RUN/seed.bin
    cache: $RUN/cache.db
    localdirectory: $RUN/data
    notafterstart: "$NOT_AFTER_START"
    notafterlimit: "$NOT_AFTER_LIMIT"
YAML
  log_server "http://127.0.0.1:$port/sun"
}

# log_server LOG_URL: Sunlight on the log that is there, if there is one.
log_server() {
  start sunlight "$SUNLIGHT_BIN" -c "$RUN/sunlight.yaml"
  wait_for sunlight 30 answers "$1/ct/v1/get-roots"
}

restart() {
  binary SUNLIGHT_BIN sunlight "$build"
  run_folder restart
  # shellcheck source=/dev/null
  source "$RUN/env"
  stop sunlight
  log_server "$LOG_URL"
}

# Skylight's own prefix has to be an https URL, and is matched as Sunlight's is. Its /health is an error while the log is stale: the
# checkpoint is asked instead.
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
  restart) restart ;;
  status) status ;;
  *) die "usage: ${0##*/} up|restart|down|status" 2 ;;
esac
