#!/usr/bin/env bash
# A real RFC 6962 log on loopback: Trillian 1.8.0, ct_server 1.4.0 and MariaDB.
#   ROOTS_PEM=roots.pem scripts/targets/rfc6962.sh up      (hammer ct roots PLAN >roots.pem)
#   RUN=FOLDER scripts/targets/rfc6962.sh down|status
# `up` prints what it writes to $RUN/env: RUN, LOG_URL, LOG_KEY_PEM (a file), LOG_KEY_B64 (SPKI, DER), TREE_ID.
# `down` ends what `up` started, and deletes the folder if `up` chose it (KEEP=1 keeps it).
# Settings: those of trillian.sh, and BACKGROUND (1: a generator of the same session on the same cores goes before all four
# processes).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/processes.sh"
# shellcheck source=scripts/targets/trillian.sh
source "$here/trillian.sh"

processes=(ct-server signer log-server database)

up() {
  need_trillian
  need_servers ct_server
  need_roots
  run_folder up
  printf 'run folder: %s\n' "$RUN"
  trap 'stop_all "${processes[@]}" >&2' EXIT

  local db_port log_rpc log_http signer_rpc signer_http ct_port ct_metrics
  read -r db_port log_rpc log_http signer_rpc signer_http ct_port ct_metrics < <(free_ports 7)
  cp "$ROOTS_PEM" "$RUN/roots.pem"
  log_key
  database
  trillian
  create_tree ctlog >"$RUN/tree-id"
  ct_log "$(<"$RUN/tree-id")"
  publish "RUN=$RUN" "LOG_URL=http://127.0.0.1:$ct_port/ctlog" "LOG_KEY_PEM=$RUN/log-key.pub.pem" \
    "LOG_KEY_B64=$(openssl pkey -pubin -in "$RUN/log-key.pub.pem" -outform DER | base64 -w0)" \
    "TREE_ID=$(<"$RUN/tree-id")"
  trap - EXIT
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
