#!/usr/bin/env bash
# A real static-ct-api log on loopback: TesseraCT POSIX for submissions, nginx for the read side.
#   ROOTS_PEM=roots.pem scripts/targets/tesseract.sh up      (hammer ct roots PLAN >roots.pem)
#   RUN=FOLDER scripts/targets/tesseract.sh down|status
# `up` prints what it writes to $RUN/env: RUN, LOG_URL (submissions), MONITORING_URL, LOG_ORIGIN, LOG_KEY_PEM (a file),
# LOG_KEY_B64 (SPKI, DER), LOG_FOLDER. TESSERACT_FLAGS is appended to the command line.
# TESSERACT_BIN names the program, by a path or as it is called on PATH; without it tesseract-posix, which HAMMER_INSTALL=full
# scripts/install.sh installs. Exit 3 when there is none, with the line that builds it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/processes.sh"

processes=(reads tesseract)

up() {
  tesseract_binary
  need openssl nginx curl python3
  need_roots
  run_folder up
  printf 'run folder: %s\n' "$RUN"
  trap 'stop_all "${processes[@]}" >&2' EXIT

  local port read_port
  read -r port read_port < <(free_ports 2)
  cp "$ROOTS_PEM" "$RUN/roots.pem"
  mkdir -p "$RUN/data"
  # SEC1 ("EC PRIVATE KEY"): it refuses PKCS#8.
  openssl ecparam -name prime256v1 -genkey -noout -out "$RUN/log-key.pem"
  openssl ec -in "$RUN/log-key.pem" -pubout -out "$RUN/log-key.pub.pem" 2>/dev/null
  submissions
  reads
  publish "RUN=$RUN" "LOG_URL=http://127.0.0.1:$port/data" "MONITORING_URL=http://127.0.0.1:$read_port" \
    "LOG_ORIGIN=127.0.0.1/data" "LOG_KEY_PEM=$RUN/log-key.pub.pem" \
    "LOG_KEY_B64=$(openssl pkey -pubin -in "$RUN/log-key.pub.pem" -outform DER | base64 -w0)" "LOG_FOLDER=$RUN/data"
  trap - EXIT
}

# The origin is host without port, and path, of the submission URL: else it logs a warning for each request.
# When its port is taken it hangs instead of ending, so only its own answer shows that it is up.
submissions() {
  # shellcheck disable=SC2086
  start tesseract "$TESSERACT_BIN" --http_endpoint="127.0.0.1:$port" --private_key="$RUN/log-key.pem" \
    --origin=127.0.0.1/data --path_prefix=/data --storage_dir="$RUN/data" --roots_pem_file="$RUN/roots.pem" \
    ${TESSERACT_FLAGS:-}
  wait_for tesseract 20 answers "http://127.0.0.1:$port/data/ct/v1/get-roots"
}

reads() {
  local immutable='add_header Cache-Control "public, max-age=604800, immutable";'
  start_nginx reads "
    listen 127.0.0.1:$read_port;
    root $RUN/data;
    location ~ /\\. { deny all; }
    location = /checkpoint { default_type \"text/plain; charset=utf-8\"; add_header Cache-Control no-store; }
    location /issuer/ { default_type application/pkix-cert; $immutable }
    location /tile/ { default_type application/octet-stream; $immutable }
    location / { return 404; }"
  wait_for reads 20 answers "http://127.0.0.1:$read_port/checkpoint"
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
