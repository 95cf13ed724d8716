#!/usr/bin/env bash
# A signature service on loopback that speaks Rest PKI's API of version 1 (1.13), made of pyHanko: Rest PKI itself is not to be had. The vendor's
# clients are answered as they expect.
#   scripts/targets/restpki-compatible.sh up
#   RUN=FOLDER scripts/targets/restpki-compatible.sh down|status
# `up` prints what it writes to $RUN/env: RUN, RESTPKI_URL, TSA_URL (RFC 3161 over HTTP, by the same token), RESTPKI_TOKEN_FILE, PKI (a folder: signer.key and signer.chain.pem, the same of
# signer-p256, timestamp-roots.pem). `status` shows what the service has counted. scripts/install.sh fetches pyHanko.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/processes.sh"
# shellcheck source=scripts/targets/test-pki.sh
source "$here/test-pki.sh"

processes=(restpki)
python=${HAMMER_PYHANKO:-${HAMMER_TARGETS_BIN%/bin}/pyhanko}/bin/python

up() {
  need openssl curl python3
  [[ -x $python ]] || die "$python is missing: run scripts/install.sh"
  run_folder up
  printf 'run folder: %s\n' "$RUN"
  trap 'stop_all "${processes[@]}" >&2' EXIT

  local port
  read -r port < <(free_ports 1)
  test_pki
  openssl rand -hex 16 >"$RUN/token"
  start restpki "$python" "$here/restpki_compatible.py" "$RUN/pki" "$port" "$RUN/token"
  wait_for restpki 60 answers "http://127.0.0.1:$port/counts"
  publish "RUN=$RUN" "RESTPKI_URL=http://127.0.0.1:$port" "TSA_URL=http://127.0.0.1:$port/tsa" \
    "RESTPKI_TOKEN_FILE=$RUN/token" "PKI=$RUN/pki"
  trap - EXIT
}

status() {
  run_folder status
  show "${processes[@]}"
  # shellcheck source=/dev/null
  source "$RUN/env"
  curl --silent --fail --max-time 5 "$RESTPKI_URL/counts" | jq .
}

case ${1:-} in
  up) up ;;
  down) run_folder down && stop_all "${processes[@]}" ;;
  status) status ;;
  *) die "usage: ${0##*/} up|down|status" 2 ;;
esac
