#!/usr/bin/env bash
# EU DSS 6.4 on loopback: its REST services for signatures, timestamps and validation, with a root, signers and timestamp authority of their own,
# which answers RFC 3161 over HTTP as well.
#   [ROOTS_PEM=roots.pem] scripts/targets/dss.sh up      (hammer pki roots PLAN >roots.pem)
#   RUN=FOLDER scripts/targets/dss.sh down|status
# `up` prints what it writes to $RUN/env: RUN, DSS_URL (for hammer), TSA_URL (the same and /tsa), PKI (a folder: signer.key and signer.chain.pem, the same of signer-p256,
# timestamp-roots.pem). Roots in ROOTS_PEM are trusted too, and lists of revoked certificates (CRL) of theirs fetched from loopback. Its libraries are 40 MB of Maven Central, which scripts/install.sh fetches.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/processes.sh"
# shellcheck source=scripts/targets/test-pki.sh
source "$here/test-pki.sh"

processes=(dss)
installed=${HAMMER_DSS:-${HAMMER_TARGETS_BIN%/bin}/dss}

up() {
  need java openssl python3
  [[ -e $installed/classes/DssTarget.class ]] || die "$installed holds no DSS: run scripts/install.sh"
  run_folder up
  printf 'run folder: %s\n' "$RUN"
  trap 'stop_all "${processes[@]}" >&2' EXIT

  local port
  read -r port < <(free_ports 1)
  test_pki
  [[ -z ${ROOTS_PEM:-} ]] || cp "$ROOTS_PEM" "$RUN/roots.pem"
  start dss java -Xmx1g -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$installed/classes:$installed/lib/*" DssTarget "$RUN/pki" "$port" \
    ${ROOTS_PEM:+"$RUN/roots.pem"}
  # It has no page that could be asked for.
  wait_for dss 120 grep -qx ready "$RUN/log/dss.log"
  publish "RUN=$RUN" "DSS_URL=http://127.0.0.1:$port/services/rest" \
    "TSA_URL=http://127.0.0.1:$port/services/rest/tsa" "PKI=$RUN/pki"
  trap - EXIT
}

status() {
  run_folder status
  show "${processes[@]}"
}

case ${1:-} in
  up) up ;;
  down) run_folder down && stop_all "${processes[@]}" ;;
  status) status ;;
  *) die "usage: ${0##*/} up|down|status" 2 ;;
esac
