#!/usr/bin/env bash
# What a request costs the client, and what it says of a rate: hammer beside whichever of wrk, wrk2, h2load, oha, hey, vegeta,
# k6 and Locust is installed, against nginx. nginx has one core and the client another; every figure is of the client's
# processes alone, and ratios are taken in each round.
#   scripts/peers.sh [--json FILE]
#   ROUNDS=5 DURATION=5 CONNECTIONS=50 RATES="1000 5000 20000" are the defaults
#   SCENARIOS="static return200 post1k one thousand close tls http2 memory open" chooses some of them
#   CLIENTS="wrk hammer before oha h2load" chooses some of the clients
#   OTHERS_MAX=3 REPEATS=10: a round in which others took over 3 % of a core is carried out again, ten times at most
# HAMMER, WRK, WRK2, H2LOAD, OHA, HEY, VEGETA, K6, LOCUST and BARE name binaries that are not on PATH or in ~/.cache/hammer/bin;
# HAMMER_BEFORE an older hammer, which then takes part in every round; SERVER_CORE and CLIENT_CORE choose the cores.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need nginx curl openssl python3 taskset
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
(($(nproc) > 1)) || die "two cores are needed: one for nginx, one for the client"
HAMMER=$(realpath "$HAMMER")
export HAMMER SERVER_CORE=${SERVER_CORE:-0} CLIENT_CORE=${CLIENT_CORE:-1} PATH=$PATH:$HAMMER_TARGETS_BIN
# Thousands of connections have a descriptor each, at either end.
ulimit -n "$(ulimit -Hn)"

# certificates FOLDER: a root (root.pem), and under it the key and certificate of 127.0.0.1 (server.key, server.pem).
certificates() {
  local curve=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
  openssl req -x509 "${curve[@]}" -keyout "$1/root.key" -out "$1/root.pem" -days 2 -subj /CN=root
  openssl req "${curve[@]}" -keyout "$1/server.key" -out "$1/server.csr" -subj /CN=localhost
  printf 'subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n' >"$1/server.ext"
  openssl x509 -req -in "$1/server.csr" -CA "$1/root.pem" -CAkey "$1/root.key" -CAcreateserial -days 2 \
    -extfile "$1/server.ext" -out "$1/server.pem"
}

run_folder up
trap 'stop_all server >&2' EXIT
read -r plain tls http2 <<<"$(free_ports 3)"
mkdir "$RUN/www" "$RUN/client" "$RUN/tls"
printf 'x%.0s' {1..128} >"$RUN/www/128"
printf 'x%.0s' {1..1024} >"$RUN/client/body"
certificates "$RUN/tls" >"$RUN/log/openssl.log" 2>&1 || die "openssl made no certificates: $(tail -n 3 "$RUN/log/openssl.log")"
# One suite, so that every client does the same work.
start_nginx server "
    listen 127.0.0.1:$plain reuseport backlog=4096;
    listen 127.0.0.1:$tls ssl backlog=4096;
    listen 127.0.0.1:$http2 http2;
    ssl_certificate $RUN/tls/server.pem;
    ssl_certificate_key $RUN/tls/server.key;
    ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
    default_type application/octet-stream;
    root $RUN/www;
    location = /empty { return 200; }
    location = /close { keepalive_timeout 0; return 200; }" \
  taskset -c "$SERVER_CORE"
wait_for server 60 answers "http://127.0.0.1:$plain/128"

read -r server_pid _ <"$RUN/pid/server"
python3 -B "$here/peers" "$@" --server-pid "$server_pid" "http://127.0.0.1:$plain" "https://127.0.0.1:$tls" \
  "http://127.0.0.1:$http2" "$RUN/tls/root.pem" "$RUN/client"
