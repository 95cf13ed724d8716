# shellcheck shell=bash
# Sourced after processes.sh: MariaDB, Trillian's log server and signer, and ct_server over them, all in the run folder.
# The caller has set db_port, log_rpc, log_http, signer_rpc, signer_http, and for ct_server ct_port and ct_metrics.
# Settings: SEQUENCER_INTERVAL, BATCH_SIZE, NUM_SEQUENCERS, DB_CONNECTIONS, MAX_MERGE_DELAY_SECONDS,
# EXPECTED_MERGE_DELAY_SECONDS; SIGNER_FLAGS, LOG_SERVER_FLAGS and CT_SERVER_FLAGS for anything else.
# shellcheck disable=SC2154

SEQUENCER_INTERVAL=${SEQUENCER_INTERVAL:-500ms}
BATCH_SIZE=${BATCH_SIZE:-1000}
NUM_SEQUENCERS=${NUM_SEQUENCERS:-2}
DB_CONNECTIONS=${DB_CONNECTIONS:-60}
MAX_MERGE_DELAY_SECONDS=${MAX_MERGE_DELAY_SECONDS:-86400}
EXPECTED_MERGE_DELAY_SECONDS=${EXPECTED_MERGE_DELAY_SECONDS:-120}

need_trillian() {
  need openssl mariadbd mariadb-install-db mariadb curl jq python3
  need_servers trillian_log_server trillian_log_signer createtree
}

sql() { mariadb --no-defaults --user=root --socket="$RUN/db.sock" "$@"; }

database() {
  local user
  user=$(id -un)
  ((${#RUN} < 90)) || die "the path of $RUN is too long for a Unix socket" 2
  mariadb-install-db --no-defaults --user="$user" --datadir="$RUN/db" --auth-root-authentication-method=normal \
    --skip-test-db >"$RUN/log/database-install.log" 2>&1 ||
    { tail -n 20 "$RUN/log/database-install.log" >&2; die "mariadb-install-db failed"; }
  run_database
  # The server names a client on loopback by its address or as localhost, as its resolver sees fit.
  sql --execute="create database trillian;
    create user 'trillian'@'127.0.0.1' identified by 'trillian';
    create user 'trillian'@'localhost' identified by 'trillian';
    grant all on trillian.* to 'trillian'@'127.0.0.1';
    grant all on trillian.* to 'trillian'@'localhost';"
  sql trillian <"$HAMMER_TARGETS_BIN/trillian-storage.sql"
}

# run_database: MariaDB on the data that are there.
run_database() {
  start database mariadbd --no-defaults --user="$(id -un)" --datadir="$RUN/db" --socket="$RUN/db.sock" \
    --pid-file="$RUN/db.pid" --port="$db_port" --bind-address=127.0.0.1 --innodb-buffer-pool-size=512M \
    --max-connections=500
  wait_for database 300 sql --execute='select 1'
}

# keep_empty_trees: remembers the trees as they are before their first leaf, for empty_trees.
keep_empty_trees() {
  local table
  sql --execute='create database empty_trees'
  for table in Trees TreeControl TreeHead; do sql --execute="create table empty_trees.$table as select * from trillian.$table"; done
}

# empty_trees: a new database with the trees that keep_empty_trees remembers, so that their ids stay; nothing may be using it.
empty_trees() {
  local table
  sql --execute='drop database trillian; create database trillian'
  sql trillian <"$HAMMER_TARGETS_BIN/trillian-storage.sql"
  for table in Trees TreeControl TreeHead; do sql --execute="insert into trillian.$table select * from empty_trees.$table"; done
}

trillian() {
  start_log_server
  start_signer
  wait_for log-server 300 answers "http://127.0.0.1:$log_http/healthz"
  wait_for signer 300 answers "http://127.0.0.1:$signer_http/healthz"
}

# Either alone, and what is there again when it returns.
log_server() {
  start_log_server
  wait_for log-server 300 answers "http://127.0.0.1:$log_http/healthz"
}

log_signer() {
  start_signer
  wait_for signer 300 answers "http://127.0.0.1:$signer_http/healthz"
}

start_log_server() {
  local store
  trillian_store
  # shellcheck disable=SC2086
  start log-server "$HAMMER_TARGETS_BIN/trillian_log_server" "${store[@]}" --rpc_endpoint="127.0.0.1:$log_rpc" \
    --http_endpoint="127.0.0.1:$log_http" ${LOG_SERVER_FLAGS:-}
}

start_signer() {
  local store
  trillian_store
  # shellcheck disable=SC2086
  start signer "$HAMMER_TARGETS_BIN/trillian_log_signer" "${store[@]}" --rpc_endpoint="127.0.0.1:$signer_rpc" \
    --http_endpoint="127.0.0.1:$signer_http" --force_master --sequencer_interval="$SEQUENCER_INTERVAL" \
    --batch_size="$BATCH_SIZE" --num_sequencers="$NUM_SEQUENCERS" ${SIGNER_FLAGS:-}
}

# trillian_store: in `store` how either is told of its storage.
trillian_store() {
  store=(--logtostderr --storage_system=mysql --quota_system=noop --mysql_max_conns="$DB_CONNECTIONS"
    --mysql_max_idle_conns="$DB_CONNECTIONS" --mysql_uri="trillian:trillian@tcp(127.0.0.1:$db_port)/trillian")
}

# create_tree NAME: prints the id of a new, empty tree.
create_tree() {
  "$HAMMER_TARGETS_BIN/createtree" --admin_server="127.0.0.1:$log_rpc" --display_name="$1" 2>"$RUN/log/createtree.log" ||
    { tail -n 20 "$RUN/log/createtree.log" >&2; die "createtree failed"; }
}

# ct_server's PEMKeyFile refuses a key without a password, so the file has one; it is no secret.
log_key() {
  openssl ecparam -name prime256v1 -genkey -noout |
    openssl ec -aes256 -passout pass:hammer -out "$RUN/log-key.pem" 2>/dev/null
  openssl ec -in "$RUN/log-key.pem" -passin pass:hammer -pubout -out "$RUN/log-key.pub.pem" 2>/dev/null
}

# ct_log TREE [LINE]: ct_server over that tree, with log-key.pem and roots.pem of the run folder; LINE is added to its configuration.
ct_log() {
  cat >"$RUN/ct.cfg" <<CFG
config {
  log_id: $1
  prefix: "ctlog"
  roots_pem_file: "$RUN/roots.pem"
  private_key: { [type.googleapis.com/keyspb.PEMKeyFile] { path: "$RUN/log-key.pem" password: "hammer" } }
  max_merge_delay_sec: $MAX_MERGE_DELAY_SECONDS
  expected_merge_delay_sec: $EXPECTED_MERGE_DELAY_SECONDS
  ${2:-}
}
CFG
  # shellcheck disable=SC2086
  start ct-server "$HAMMER_TARGETS_BIN/ct_server" --logtostderr --log_config="$RUN/ct.cfg" \
    --log_rpc_server="127.0.0.1:$log_rpc" --http_endpoint="127.0.0.1:$ct_port" \
    --metrics_endpoint="127.0.0.1:$ct_metrics" ${CT_SERVER_FLAGS:-}
  wait_for ct-server 300 answers "http://127.0.0.1:$ct_port/ctlog/ct/v1/get-sth"
}
