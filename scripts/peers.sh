#!/usr/bin/env bash
# What a request costs the client, and what it says of a rate: hammer beside whichever of wrk, wrk2, oha, hey, vegeta, k6
# and Locust is installed, against nginx with a file of 128 bytes. nginx has one core and the client another; every
# figure is of the client's processes alone.
#   scripts/peers.sh [--json FILE]
#   ROUNDS=5 DURATION=5 CONNECTIONS=50 RATES="1000 5000 20000" are the defaults
# HAMMER, WRK, WRK2, OHA, HEY, VEGETA, K6 and LOCUST name binaries that are not on PATH or in ~/.cache/hammer/bin;
# SERVER_CORE and CLIENT_CORE choose the cores.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need nginx curl python3 taskset
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
(($(nproc) > 1)) || die "two cores are needed: one for nginx, one for the client"
HAMMER=$(realpath "$HAMMER")

run_folder up
trap 'stop_all server >&2' EXIT
port=$(free_ports 1)
mkdir "$RUN/www" "$RUN/client"
printf 'x%.0s' {1..128} >"$RUN/www/128"
start_nginx server "
    listen 127.0.0.1:$port reuseport;
    default_type application/octet-stream;
    root $RUN/www;" \
  taskset -c "${SERVER_CORE:-0}"
wait_for server 60 answers "http://127.0.0.1:$port/128"

PATH=$PATH:$HAMMER_TARGETS_BIN HAMMER=$HAMMER python3 -B "$here/peers" "$@" "http://127.0.0.1:$port/128" "$RUN/client"
