set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
rm -f @FILES@

# What a person waits for a second for, that a server is there, may take longer here.
sleep() {
  local port file deadline=$((SECONDS + 120))
  for port in @PORTS@; do
    until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do ((SECONDS < deadline)) || return 1; command sleep 0.05; done
  done
  for file in @FILES@; do
    until [[ -s $file ]]; do ((SECONDS < deadline)) || return 1; command sleep 0.05; done
  done
}

# ends_with CODE COMMAND...
ends_with() {
  local expected=$1 code=0
  shift
  EXPECTED_CODE=$expected "$@" || code=$?
  ((code == expected)) || { printf 'exit %s and not %s: %s\n' "$code" "$expected" "$*" >&2; return 1; }
}

# until_it_says_something COMMAND...: it is interrupted once it has printed a line, and ends by that.
until_it_says_something() {
  local said code=0 deadline=$((SECONDS + 120))
  said=$(mktemp)
  "$@" >"$said" 2>&1 &
  local its_pid=$!
  until [[ -s $said ]]; do ((SECONDS < deadline)) || return 1; command sleep 0.05; done
  kill -INT "$its_pid"
  wait "$its_pid" || code=$?
  cat "$said"
  ((code == 0 || code == 130))
}
