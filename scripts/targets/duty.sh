#!/usr/bin/env bash
# duty.sh PIDFILE DUTY: stops and continues the process that processes.sh noted in PIDFILE, so that it runs DUTY per cent of each 100 ms;
# ends with that process, and continues it when it is ended itself.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "${BASH_SOURCE[0]%/*}/../usage.sh"
read -r pid began <"$1"

runs() {
  local stat fields
  stat=$(<"/proc/$pid/stat") 2>/dev/null || return 1
  read -ra fields <<<"${stat##*) }"
  [[ ${fields[19]} == "$began" && ${fields[0]} != Z ]]
}

on=$(printf '0.%03d' "$2")
off=$(printf '0.%03d' "$((100 - $2))")
trap 'kill -CONT "$pid" 2>/dev/null || true' EXIT
trap 'exit 0' TERM INT
while runs 2>/dev/null; do
  kill -STOP "$pid" || break
  sleep "$off"
  kill -CONT "$pid" || break
  sleep "$on"
done
