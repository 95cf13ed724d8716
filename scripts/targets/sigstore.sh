#!/usr/bin/env bash
# The real Sigstore servers on loopback, each built from its module by scripts/install.sh.
#   scripts/targets/sigstore.sh up [light|rekor1|full]
#     light    Fulcio 1.8.8 without a CT log, timestamp-server 2.1.3, Rekor v2 (rekor-tiles 2.3.0) and nginx for its tiles; no database
#     rekor1   light, and Rekor v1 1.5.4 over Trillian 1.8.0 and MariaDB
#     full     rekor1, and ct_server 1.4.0 behind Fulcio, Redis for Rekor's search, and a TUF repository
#   RUN=FOLDER scripts/targets/sigstore.sh down|status|reset
#   RUN=FOLDER scripts/targets/sigstore.sh kill NAME...|start NAME...|throttle NAME DUTY|free NAME...
# `up` prints what it writes to $RUN/env; what its kind lacks is left out. URLs: FULCIO_URL, FULCIO_GRPC_URL, TSA_URL, REKOR_TILES_URL
# (writes), REKOR_TILES_GRPC_URL, REKOR_TILES_READ_URL (checkpoint and tiles, also below /api/v2/), REKOR_URL, TRILLIAN_GRPC_URL,
# CT_LOG_URL, TUF_URL, OIDC_ISSUER; pages of what a server counted: FULCIO_METRICS_URL, TSA_METRICS_URL, REKOR_TILES_METRICS_URL.
# Files: FULCIO_CHAIN, TSA_CHAIN, REKOR_PUBLIC_KEY, REKOR_TILES_PUBLIC_KEY, CT_PUBLIC_KEY, TRUSTED_ROOT, SIGNING_CONFIG (every log),
# SIGNING_CONFIG_REKOR1 (Rekor v1 alone), OIDC_KEY (signs tokens, kid k1). Names: REKOR_TREE_ID, CT_TREE_ID, REKOR_ORIGIN,
# REKOR_TILES_ORIGIN.
# `reset` empties all trees, tiles and the search; URLs, keys and tree ids stay. It is fit for a plan's hooks.
# `kill`, `start`, `throttle` and `free` are for a plan's `hooks.at`; NAME is one of those that `status` shows. `kill` sends SIGKILL;
# `start` starts it again as it was, with its data, and returns when it answers; `throttle NAME 20` stops and continues it by turns, so that
# it runs 20 % of each 100 ms, until `free NAME`, `kill NAME` or `down`. Each prints a `mark` line. None touches a process that this script
# did not start.
# `down` ends what `up` started, and deletes the folder if `up` chose it (KEEP=1 keeps it).
# timestamp-server and Rekor v1 have their metrics on *:2112, whatever they are told: without that port the first ends, while the second
# goes without metrics. A run beside another takes the other's timestamp authority: TSA=URL, and none is started.
# Settings, of which a later `reset` knows: ISSUER (URL of an OIDC issuer; none is started then, and it need not answer yet),
# CHECKPOINT_INTERVAL, SEARCH_INDEX (none, mysql or redis, of Rekor v1), BACKGROUND and what trillian.sh names; FULCIO_EXTRA,
# TSA_EXTRA, TILES_EXTRA and REKOR_EXTRA for further flags.
#
# The variables of `ports` are assigned by their names.
# shellcheck disable=SC2154
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Trillian's own defaults: the interval is the floor of Rekor's write latency.
SEQUENCER_INTERVAL=${SEQUENCER_INTERVAL:-100ms}
NUM_SEQUENCERS=${NUM_SEQUENCERS:-10}
# shellcheck source=scripts/targets/processes.sh
source "$here/processes.sh"
# shellcheck source=scripts/targets/trillian.sh
source "$here/trillian.sh"
# shellcheck source=scripts/targets/sigstore-trust.sh
source "$here/sigstore-trust.sh"

CHECKPOINT_INTERVAL=${CHECKPOINT_INTERVAL:-1s}
ORIGIN=127.0.0.1
processes=(fulcio rekor rekor-tiles tile-reads tsa ct-server signer log-server redis database issuer tuf)
# Those of them that keep what was written; none of them has anything that is worth a proper end.
writers=(rekor rekor-tiles ct-server signer log-server redis)
ports=(issuer_port tsa_port tiles_http tiles_grpc tiles_metrics tiles_read fulcio_http fulcio_grpc fulcio_metrics db_port log_rpc
  log_http signer_rpc signer_http rekor_port ct_port ct_metrics redis_port tuf_port)
settings=(kind ISSUER TSA CHECKPOINT_INTERVAL SEARCH_INDEX BACKGROUND SEQUENCER_INTERVAL BATCH_SIZE NUM_SEQUENCERS DB_CONNECTIONS
  MAX_MERGE_DELAY_SECONDS EXPECTED_MERGE_DELAY_SECONDS LOG_SERVER_FLAGS SIGNER_FLAGS CT_SERVER_FLAGS FULCIO_EXTRA TSA_EXTRA
  TILES_EXTRA REKOR_EXTRA)

with_rekor1() { [[ $kind != light ]]; }
with_ct_log() { [[ $kind == full ]]; }
# A TUF repository needs go-tuf's `tuf`, which only HAMMER_INSTALL=full installs.
with_tuf() { [[ $kind == full && -x $HAMMER_TARGETS_BIN/tuf ]]; }

up() {
  kind=${1:-light}
  case $kind in
    light) SEARCH_INDEX=none ;;
    rekor1) SEARCH_INDEX=${SEARCH_INDEX:-none} ;;
    full) SEARCH_INDEX=${SEARCH_INDEX:-redis} ;;
    *) die "no kind is called $kind: light, rekor1 or full" 2 ;;
  esac
  check_prerequisites
  run_folder up
  printf 'run folder: %s\n' "$RUN"
  trap 'stop_all "${processes[@]}" >&2' EXIT

  read -r "${ports[@]}" < <(free_ports "${#ports[@]}")
  remember "${ports[@]}" "${settings[@]}" >"$RUN/settings"
  issuer_url=${ISSUER:-http://127.0.0.1:$issuer_port}
  tsa_url=${TSA:-http://127.0.0.1:$tsa_port}
  ((${#RUN} < 90)) || die "the path of $RUN is too long for a Unix socket" 2
  keys
  [[ -n ${ISSUER:-} ]] || issuer
  [[ -n ${TSA:-} ]] || tsa
  curl --silent --fail --max-time 10 "$tsa_url/api/v1/timestamp/certchain" >"$RUN/tsa-chain.pem" || die "$tsa_url has no chain to give"
  rekor_tiles
  tile_reads
  if with_rekor1; then storage; fi
  if with_ct_log; then ct_log "$(<"$RUN/tree-ct")" 'ext_key_usages: "CodeSigning"'; fi
  fulcio
  if with_rekor1; then rekor; fi
  trust
  if with_tuf; then
    tuf_repository
  elif [[ $kind == full ]]; then
    printf 'no TUF repository: HAMMER_INSTALL=full scripts/install.sh installs its tuf\n' >&2
  fi
  publish_all
  trap - EXIT
}

check_prerequisites() {
  need openssl nginx curl jq python3 basenc
  need_servers timestamp-server rekor-tiles fulcio
  if with_rekor1; then
    need_trillian
    need_servers rekor-server
  fi
  if with_ct_log; then need_servers ct_server; fi
  case $SEARCH_INDEX in
    none | mysql) ;;
    redis) need redis-server redis-cli ;;
    *) die "SEARCH_INDEX is none, mysql or redis, and not $SEARCH_INDEX" 2 ;;
  esac
  # The timestamp authority ends at once when it cannot have it.
  [[ -n ${TSA:-} ]] || ! listens 2112 ||
    die "port 2112 is taken, where timestamp-server serves its metrics whatever it is told (TSA=URL uses the one that runs)"
}

# remember NAME...: assignments of those variables; what is unset is empty.
remember() {
  local name
  for name in "$@"; do printf '%s=%q\n' "$name" "${!name:-}"; done
}

keys() {
  local folder=$RUN/keys name
  mkdir "$folder"
  openssl genpkey -algorithm ed25519 -out "$folder/rekor-tiles.pem"
  openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$folder/rekor.pem"
  for name in rekor-tiles rekor; do openssl pkey -in "$folder/$name.pem" -pubout -out "$folder/$name.pub.pem"; done
  # Fulcio's file CA wants an encrypted key; the password is no secret.
  openssl ecparam -name prime256v1 -genkey -noout |
    openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:hammer -out "$folder/fulcio.pem"
  openssl req -x509 -new -key "$folder/fulcio.pem" -passin pass:hammer -sha256 -days 3650 -subj '/O=hammer/CN=hammer fulcio root' \
    -addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign -out "$RUN/fulcio-chain.pem"
  if with_ct_log; then
    log_key
    cp "$RUN/fulcio-chain.pem" "$RUN/roots.pem"
  fi
}

# An issuer is two static documents; whoever has oidc.pem mints its tokens.
issuer() {
  local modulus
  mkdir -p "$RUN/issuer/.well-known"
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$RUN/keys/oidc.pem" 2>/dev/null
  modulus=$(openssl rsa -in "$RUN/keys/oidc.pem" -noout -modulus | cut -d= -f2 | basenc --base16 --decode | basenc --base64url --wrap=0)
  jq -n --arg n "${modulus//=/}" '{keys: [{kty: "RSA", use: "sig", alg: "RS256", kid: "k1", n: $n, e: "AQAB"}]}' >"$RUN/issuer/jwks.json"
  jq -n --arg issuer "$issuer_url" '{issuer: $issuer, jwks_uri: "\($issuer)/jwks.json", authorization_endpoint: "\($issuer)/auth",
    token_endpoint: "\($issuer)/token", response_types_supported: ["id_token"], subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"]}' >"$RUN/issuer/.well-known/openid-configuration"
  start_nginx issuer "
    listen 127.0.0.1:$issuer_port;
    root $RUN/issuer;
    default_type application/json;"
  wait_for issuer 60 answers "$issuer_url/.well-known/openid-configuration"
}

# Its chain of three is made anew at each start, in memory; without --disable-ntp-monitoring it asks public time servers.
tsa() {
  # shellcheck disable=SC2086
  start tsa "$HAMMER_TARGETS_BIN/timestamp-server" serve --host=127.0.0.1 --port="$tsa_port" --timestamp-signer=memory \
    --disable-ntp-monitoring --log-type=prod ${TSA_EXTRA:-}
  wait_for tsa 60 answers "$tsa_url/ping"
}

# Clients refuse a checkpoint whose origin is not the host, without port, of the log's URL.
rekor_tiles() {
  mkdir -p "$RUN/tiles"
  # shellcheck disable=SC2086
  start rekor-tiles "$HAMMER_TARGETS_BIN/rekor-tiles" serve --hostname="$ORIGIN" --storage-dir="$RUN/tiles" \
    --signer-filepath="$RUN/keys/rekor-tiles.pem" --http-address=127.0.0.1 --http-port="$tiles_http" --grpc-address=127.0.0.1 \
    --grpc-port="$tiles_grpc" --http-metrics-port="$tiles_metrics" --checkpoint-interval="$CHECKPOINT_INTERVAL" \
    --pushback-max-outstanding=8192 ${TILES_EXTRA:-}
  wait_for rekor-tiles 60 answers "http://127.0.0.1:$tiles_http/healthz"
}

# The server itself answers 501 to reads: checkpoint and tiles are files.
tile_reads() {
  start_nginx tile-reads "
    listen 127.0.0.1:$tiles_read;
    root $RUN/tiles;
    location ~ /\\. { deny all; }
    location /api/v2/ { rewrite ^/api/v2(/.*)\$ \$1 last; }
    location = /checkpoint { default_type \"text/plain; charset=utf-8\"; add_header Cache-Control no-store; }
    location /tile/ { default_type application/octet-stream; add_header Cache-Control \"public, max-age=604800, immutable\"; }
    location / { return 404; }"
  wait_for tile-reads 60 answers "http://127.0.0.1:$tiles_read/checkpoint"
}

# Database, Trillian and the trees.
storage() {
  database
  trillian
  create_tree rekor >"$RUN/tree-rekor"
  if with_ct_log; then create_tree ctlog >"$RUN/tree-ct"; fi
  keep_empty_trees
}

fulcio() {
  local ct_flags=(--ct-log-url=)
  if with_ct_log; then ct_flags=(--ct-log-url="http://127.0.0.1:$ct_port/ctlog" --ct-log-public-key-path="$RUN/log-key.pub.pem"); fi
  jq -n --arg issuer "$issuer_url" '{OIDCIssuers: {($issuer): {IssuerURL: $issuer, ClientID: "sigstore", Type: "email"}}}' \
    >"$RUN/fulcio.json"
  # shellcheck disable=SC2086
  start fulcio "$HAMMER_TARGETS_BIN/fulcio" serve --config-path="$RUN/fulcio.json" --ca=fileca --fileca-cert="$RUN/fulcio-chain.pem" \
    --fileca-key="$RUN/keys/fulcio.pem" --fileca-key-passwd=hammer --fileca-watch=false "${ct_flags[@]}" --host=127.0.0.1 \
    --port="$fulcio_http" --grpc-host=127.0.0.1 --grpc-port="$fulcio_grpc" --metrics-port="$fulcio_metrics" \
    --legacy-unix-domain-socket="$RUN/fulcio.sock" --log_type=prod ${FULCIO_EXTRA:-}
  wait_for fulcio 60 answers "http://127.0.0.1:$fulcio_http/healthz"
}

rekor() {
  local search_flags=()
  search_index
  # shellcheck disable=SC2086
  start rekor "$HAMMER_TARGETS_BIN/rekor-server" serve --trillian_log_server.address=127.0.0.1 --trillian_log_server.port="$log_rpc" \
    --trillian_log_server.tlog_id="$(<"$RUN/tree-rekor")" --rekor_server.address=127.0.0.1 --port="$rekor_port" \
    --rekor_server.hostname="$ORIGIN" --rekor_server.signer="$RUN/keys/rekor.pem" --log_type=prod "${search_flags[@]}" ${REKOR_EXTRA:-}
  wait_for rekor 60 answers "http://127.0.0.1:$rekor_port/ping"
}

# What Rekor v1 searches in, empty, and in search_flags how it is told of it.
search_index() {
  case $SEARCH_INDEX in
    none)
      search_flags=(--enable_retrieve_api=false
        --enabled_api_endpoints="getLogInfo,getPublicKey,getLogProof,createLogEntry,getLogEntryByIndex,getLogEntryByUUID,searchLogQuery")
      ;;
    mysql)
      sql --execute="create or replace database search;
        grant all on search.* to 'trillian'@'127.0.0.1';
        grant all on search.* to 'trillian'@'localhost';"
      search_flags=(--search_index.storage_provider=mysql
        --search_index.mysql.dsn="trillian:trillian@tcp(127.0.0.1:$db_port)/search")
      ;;
    redis)
      start_redis
      search_flags=(--redis_server.address=127.0.0.1 --redis_server.port="$redis_port")
      ;;
  esac
}

start_redis() {
  start redis redis-server --bind 127.0.0.1 --port "$redis_port" --save '' --appendonly no --dir "$RUN"
  wait_for redis 60 redis-cli -p "$redis_port" ping
}

tuf_repository() {
  local client=$HAMMER_TARGETS_BIN/tuf name
  trust_files "$RUN/tuf/staged/targets"
  (
    cd "$RUN/tuf"
    export TUF_ROOT_PASSPHRASE=hammer TUF_TARGETS_PASSPHRASE=hammer TUF_SNAPSHOT_PASSPHRASE=hammer TUF_TIMESTAMP_PASSPHRASE=hammer
    # Joined, because `set -e` rests where a failure has its own end.
    "$client" init --consistent-snapshot=true || exit
    for name in root targets snapshot timestamp; do "$client" gen-key --expires=365 "$name" || exit; done
    for name in staged/targets/*; do "$client" add --expires=365 "${name##*/}" || exit; done
    "$client" snapshot --expires=365 && "$client" timestamp --expires=365 && "$client" commit
  ) >"$RUN/log/tuf-client.log" 2>&1 || { tail -n 20 "$RUN/log/tuf-client.log" >&2; die "the TUF repository cannot be made"; }
  start_nginx tuf "
    listen 127.0.0.1:$tuf_port;
    root $RUN/tuf/repository;
    types { application/json json; }
    default_type application/octet-stream;"
  wait_for tuf 60 answers "http://127.0.0.1:$tuf_port/timestamp.json"
}

publish_all() {
  local pairs=("RUN=$RUN" "KIND=$kind" "OIDC_ISSUER=$issuer_url" "FULCIO_URL=http://127.0.0.1:$fulcio_http"
    "FULCIO_GRPC_URL=http://127.0.0.1:$fulcio_grpc" "FULCIO_CHAIN=$RUN/fulcio-chain.pem" "TSA_URL=$tsa_url"
    "TSA_CHAIN=$RUN/tsa-chain.pem" "REKOR_TILES_URL=http://127.0.0.1:$tiles_http"
    "REKOR_TILES_GRPC_URL=http://127.0.0.1:$tiles_grpc" "REKOR_TILES_READ_URL=http://127.0.0.1:$tiles_read"
    "REKOR_TILES_PUBLIC_KEY=$RUN/keys/rekor-tiles.pub.pem" "REKOR_TILES_ORIGIN=$ORIGIN" "TRUSTED_ROOT=$RUN/trusted_root.json"
    "SIGNING_CONFIG=$RUN/signing_config.json" "FULCIO_METRICS_URL=http://127.0.0.1:$fulcio_metrics/metrics"
    "REKOR_TILES_METRICS_URL=http://127.0.0.1:$tiles_metrics/metrics")
  [[ -n ${TSA:-} ]] || pairs+=("TSA_METRICS_URL=http://127.0.0.1:2112/metrics")
  [[ -n ${ISSUER:-} ]] || pairs+=("OIDC_KEY=$RUN/keys/oidc.pem")
  if with_rekor1; then
    pairs+=("REKOR_URL=http://127.0.0.1:$rekor_port" "REKOR_PUBLIC_KEY=$RUN/keys/rekor.pub.pem" "REKOR_TREE_ID=$(<"$RUN/tree-rekor")"
      "REKOR_ORIGIN=$ORIGIN - $(<"$RUN/tree-rekor")" "SIGNING_CONFIG_REKOR1=$RUN/signing_config_rekor1.json"
      "TRILLIAN_GRPC_URL=http://127.0.0.1:$log_rpc")
  fi
  if with_ct_log; then
    pairs+=("CT_LOG_URL=http://127.0.0.1:$ct_port/ctlog" "CT_PUBLIC_KEY=$RUN/log-key.pub.pem" "CT_TREE_ID=$(<"$RUN/tree-ct")")
  fi
  if with_tuf; then pairs+=("TUF_URL=http://127.0.0.1:$tuf_port"); fi
  publish "${pairs[@]}"
}

# Fulcio, the timestamp authority and the files that are served keep nothing of a run, and stay as they are.
reset() {
  local name
  for name in "${writers[@]}"; do signal "$name" KILL; done
  stop "${writers[@]}"
  rm -rf "$RUN/tiles"
  rekor_tiles
  if with_rekor1; then
    empty_trees
    trillian
    if with_ct_log; then ct_log "$(<"$RUN/tree-ct")" 'ext_key_usages: "CodeSigning"'; fi
    rekor
  fi
  wait_for rekor-tiles 60 answers "http://127.0.0.1:$tiles_read/checkpoint"
  printf 'empty\n'
}

# started_here NAME: NAME is a process of this run.
started_here() {
  [[ -n $1 && " ${processes[*]} " == *" $1 "* ]] || die "no process is called '$1': ${processes[*]}" 2
  [[ -e $RUN/pid/$1 ]] || die "$1 is not part of this run ($kind)" 2
}

# each COMMAND NAME...: in order.
each() {
  local name
  (($# > 1)) || die "no NAME is given: ${processes[*]}" 2
  for name in "${@:2}"; do
    started_here "$name"
    "$1" "$name"
  done
}

kill_one() {
  alive "$1" || die "$1 does not run"
  free_one "$1"
  signal "$1" KILL
  while alive "$1"; do sleep 0.01; done
  printf 'mark %s is killed\n' "$1"
}

start_one() {
  ! alive "$1" || die "$1 runs already"
  issuer_url=${ISSUER:-http://127.0.0.1:$issuer_port}
  tsa_url=${TSA:-http://127.0.0.1:$tsa_port}
  case $1 in
    fulcio | rekor | tsa) "$1" ;;
    rekor-tiles) rekor_tiles ;;
    ct-server) ct_log "$(<"$RUN/tree-ct")" 'ext_key_usages: "CodeSigning"' ;;
    database) run_database ;;
    log-server) log_server ;;
    signer) log_signer ;;
    tile-reads | issuer | tuf) again "$1" ;;
    redis) start_redis ;;
  esac
  printf 'mark %s is up again\n' "$1"
}

# again NAME: an nginx with the configuration that it had.
again() {
  start "$1" nginx -e stderr -c "$RUN/nginx-$1/nginx.conf"
}

# throttle_one NAME DUTY: what stops and continues it is a process of this run too, and continues it when it ends.
throttle_one() {
  local duty=$2
  started_here "$1"
  alive "$1" || die "$1 does not run"
  [[ $duty =~ ^[1-9][0-9]?$ ]] || die "the duty is a percentage from 1 to 99, and not '$duty'" 2
  ! alive "throttle-$1" || die "$1 is throttled already"
  start "throttle-$1" bash "${BASH_SOURCE[0]%/*}/duty.sh" "$RUN/pid/$1" "$duty"
  printf 'mark %s is throttled to %s %%\n' "$1" "$duty"
}

free_one() {
  if alive "throttle-$1"; then
    stop "throttle-$1"
    printf 'mark %s is free\n' "$1"
  fi
  signal "$1" CONT
}

status() {
  local name
  for name in "${processes[@]}"; do [[ ! -e $RUN/pid/$name ]] || show "$name"; done
  printf 'Rekor v2: %s entries\n' "$(curl --silent --fail --max-time 5 "http://127.0.0.1:$tiles_read/checkpoint" | sed -n 2p)"
  if with_rekor1; then
    printf 'Rekor v1: %s entries\n' "$(curl --silent --fail --max-time 5 "http://127.0.0.1:$rekor_port/api/v1/log" | jq .treeSize)"
  fi
  if with_ct_log; then
    printf 'CT log: %s entries\n' "$(curl --silent --fail --max-time 5 "http://127.0.0.1:$ct_port/ctlog/ct/v1/get-sth" | jq .tree_size)"
  fi
}

# known COMMAND: the folder of a run and its settings, over those of the environment.
known() {
  run_folder "$1"
  [[ -s $RUN/settings ]] || die "$RUN holds no run of this script" 2
  # shellcheck source=/dev/null
  source "$RUN/settings"
}

case ${1:-} in
  up) up "${2:-}" ;;
  down) run_folder down && stop_all "${processes[@]/#/throttle-}" "${processes[@]}" ;;
  status) known status && status ;;
  reset) known reset && reset ;;
  kill) known kill && each kill_one "${@:2}" ;;
  start) known start && each start_one "${@:2}" ;;
  throttle) known throttle && throttle_one "${2:-}" "${3:-}" ;;
  free) known free && each free_one "${@:2}" ;;
  *) die "usage: ${0##*/} up [light|rekor1|full] | down|status|reset | kill|start|free NAME... | throttle NAME DUTY" 2 ;;
esac
