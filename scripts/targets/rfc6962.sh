#!/usr/bin/env bash
# A real RFC 6962 log on loopback: Trillian 1.8.0, ct_server 1.4.0 and MariaDB.
#   ROOTS_PEM=roots.pem scripts/targets/rfc6962.sh up      (hammer ct roots PLAN >roots.pem)
#   RUN=FOLDER scripts/targets/rfc6962.sh down|status
# `up` prints what it writes to $RUN/env: RUN, LOG_URL, LOG_KEY_PEM (a file), LOG_KEY_B64 (SPKI, DER), TREE_ID.
# `down` ends what `up` started, and deletes the folder if `up` chose it (KEEP=1 keeps it).
# Settings: SEQUENCER_INTERVAL, BATCH_SIZE, NUM_SEQUENCERS, DB_CONNECTIONS, MAX_MERGE_DELAY_SECONDS,
# EXPECTED_MERGE_DELAY_SECONDS, BACKGROUND (1: a generator of the same session on the same cores goes before all four processes),
# SIGNER_FLAGS, LOG_SERVER_FLAGS and CT_SERVER_FLAGS for anything else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/processes.sh"

SEQUENCER_INTERVAL=${SEQUENCER_INTERVAL:-500ms}
BATCH_SIZE=${BATCH_SIZE:-1000}
NUM_SEQUENCERS=${NUM_SEQUENCERS:-2}
DB_CONNECTIONS=${DB_CONNECTIONS:-60}
MAX_MERGE_DELAY_SECONDS=${MAX_MERGE_DELAY_SECONDS:-86400}
EXPECTED_MERGE_DELAY_SECONDS=${EXPECTED_MERGE_DELAY_SECONDS:-120}
processes=(ct-server signer log-server database)

up() {
  need openssl mariadbd mariadb-install-db mariadb curl jq python3
  local server
  for server in trillian_log_server trillian_log_signer createtree ct_server; do
    [[ -x $HAMMER_TARGETS_BIN/$server ]] || die "$HAMMER_TARGETS_BIN/$server is missing: run scripts/install.sh"
  done
  [[ -n ${ROOTS_PEM:-} ]] || die "ROOTS_PEM must name the PEM file of the roots that the log accepts" 2
  grep -q 'BEGIN CERTIFICATE' "$ROOTS_PEM" || die "ROOTS_PEM=$ROOTS_PEM holds no certificate" 2
  run_folder up
  printf 'run folder: %s\n' "$RUN"
  trap 'stop_all "${processes[@]}" >&2' EXIT

  local db_port log_rpc log_http signer_rpc signer_http ct_port ct_metrics
  read -r db_port log_rpc log_http signer_rpc signer_http ct_port ct_metrics < <(free_ports 7)
  cp "$ROOTS_PEM" "$RUN/roots.pem"
  log_key
  database
  trillian
  ct_log
  publish "RUN=$RUN" "LOG_URL=http://127.0.0.1:$ct_port/ctlog" "LOG_KEY_PEM=$RUN/log-key.pub.pem" \
    "LOG_KEY_B64=$(openssl pkey -pubin -in "$RUN/log-key.pub.pem" -outform DER | base64 -w0)" \
    "TREE_ID=$(<"$RUN/tree-id")"
  trap - EXIT
}

# ct_server's PEMKeyFile refuses a key without a password, so the file has one; it is no secret.
log_key() {
  openssl ecparam -name prime256v1 -genkey -noout |
    openssl ec -aes256 -passout pass:hammer -out "$RUN/log-key.pem" 2>/dev/null
  openssl ec -in "$RUN/log-key.pem" -passin pass:hammer -pubout -out "$RUN/log-key.pub.pem" 2>/dev/null
}

sql() { mariadb --no-defaults --user=root --socket="$RUN/db.sock" "$@"; }

database() {
  local user
  user=$(id -un)
  ((${#RUN} < 90)) || die "the path of $RUN is too long for a Unix socket" 2
  mariadb-install-db --no-defaults --user="$user" --datadir="$RUN/db" --auth-root-authentication-method=normal \
    --skip-test-db >"$RUN/log/database-install.log" 2>&1 ||
    { tail -n 20 "$RUN/log/database-install.log" >&2; die "mariadb-install-db failed"; }
  start database mariadbd --no-defaults --user="$user" --datadir="$RUN/db" --socket="$RUN/db.sock" \
    --pid-file="$RUN/db.pid" --port="$db_port" --bind-address=127.0.0.1 --innodb-buffer-pool-size=512M \
    --max-connections=500
  wait_for database 300 sql --execute='select 1'
  # The server names a client on loopback by its address or as localhost, as its resolver sees fit.
  sql --execute="create database trillian;
    create user 'trillian'@'127.0.0.1' identified by 'trillian';
    create user 'trillian'@'localhost' identified by 'trillian';
    grant all on trillian.* to 'trillian'@'127.0.0.1';
    grant all on trillian.* to 'trillian'@'localhost';"
  sql trillian <"$HAMMER_TARGETS_BIN/trillian-storage.sql"
}

trillian() {
  local store=(--logtostderr --storage_system=mysql --quota_system=noop --mysql_max_conns="$DB_CONNECTIONS"
    --mysql_max_idle_conns="$DB_CONNECTIONS" --mysql_uri="trillian:trillian@tcp(127.0.0.1:$db_port)/trillian")
  # shellcheck disable=SC2086
  start log-server "$HAMMER_TARGETS_BIN/trillian_log_server" "${store[@]}" --rpc_endpoint="127.0.0.1:$log_rpc" \
    --http_endpoint="127.0.0.1:$log_http" ${LOG_SERVER_FLAGS:-}
  # shellcheck disable=SC2086
  start signer "$HAMMER_TARGETS_BIN/trillian_log_signer" "${store[@]}" --rpc_endpoint="127.0.0.1:$signer_rpc" \
    --http_endpoint="127.0.0.1:$signer_http" --force_master --sequencer_interval="$SEQUENCER_INTERVAL" \
    --batch_size="$BATCH_SIZE" --num_sequencers="$NUM_SEQUENCERS" ${SIGNER_FLAGS:-}
  wait_for log-server 300 answers "http://127.0.0.1:$log_http/healthz"
  wait_for signer 300 answers "http://127.0.0.1:$signer_http/healthz"
  "$HAMMER_TARGETS_BIN/createtree" --admin_server="127.0.0.1:$log_rpc" --display_name=ctlog \
    >"$RUN/tree-id" 2>"$RUN/log/createtree.log" || { tail -n 20 "$RUN/log/createtree.log" >&2; die "createtree failed"; }
}

ct_log() {
  cat >"$RUN/ct.cfg" <<CFG
config {
  log_id: $(<"$RUN/tree-id")
  prefix: "ctlog"
  roots_pem_file: "$RUN/roots.pem"
  private_key: { [type.googleapis.com/keyspb.PEMKeyFile] { path: "$RUN/log-key.pem" password: "hammer" } }
  max_merge_delay_sec: $MAX_MERGE_DELAY_SECONDS
  expected_merge_delay_sec: $EXPECTED_MERGE_DELAY_SECONDS
}
CFG
  # shellcheck disable=SC2086
  start ct-server "$HAMMER_TARGETS_BIN/ct_server" --logtostderr --log_config="$RUN/ct.cfg" \
    --log_rpc_server="127.0.0.1:$log_rpc" --http_endpoint="127.0.0.1:$ct_port" \
    --metrics_endpoint="127.0.0.1:$ct_metrics" ${CT_SERVER_FLAGS:-}
  wait_for ct-server 300 answers "http://127.0.0.1:$ct_port/ctlog/ct/v1/get-sth"
}

status() {
  run_folder status
  show "${processes[@]}"
  # shellcheck source=/dev/null
  source "$RUN/env"
  printf 'tree size %s\n' "$(curl --silent --fail --max-time 5 "$LOG_URL/ct/v1/get-sth" | jq .tree_size)"
}

case ${1:-} in
  up) up ;;
  down) run_folder down && stop_all "${processes[@]}" ;;
  status) status ;;
  *) die "usage: ${0##*/} up|down|status" 2 ;;
esac
