#!/usr/bin/env bash
# Whether a second log server gets anything: two real Trillian log servers on 127.0.0.1 and 127.0.0.2 with one port, behind one name, and
# calls of GetLatestSignedLogRoot to that name, under pick_first and under round_robin. Held together are the servers' own counts
# (log_rpc_requests) and hammer's peers: all to one, then a half to each. Needs what scripts/install.sh installs, and a namespace for a
# hosts file of its own (as root, or where users may have namespaces).
#   scripts/balancing.sh          HAMMER names the program; CALLS=2000 is the default
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"
# shellcheck source=scripts/targets/trillian.sh
source "$here/targets/trillian.sh"
need_trillian
need unshare
CALLS=${CALLS:-2000}
HAMMER=$(realpath "$(built hammer hammer-cli "${HAMMER:-}")")
in_namespace=(unshare --mount)
((EUID == 0)) || in_namespace=(unshare --map-root-user --mount)
"${in_namespace[@]}" true 2>/dev/null || die "no namespace can be made here for a hosts file of its own" 3
run_folder up
trap 'stop_all second-log-server signer log-server database >&2' EXIT
# Assigned by name, for trillian.sh.
# shellcheck disable=SC2034
read -r db_port log_rpc log_http signer_rpc signer_http <<<"$(free_ports 5)"
database
trillian
start second-log-server "$HAMMER_TARGETS_BIN/trillian_log_server" --logtostderr --storage_system=mysql --quota_system=noop \
  --mysql_max_conns="$DB_CONNECTIONS" --mysql_uri="trillian:trillian@tcp(127.0.0.1:$db_port)/trillian" \
  --rpc_endpoint="127.0.0.2:$log_rpc" --http_endpoint="127.0.0.2:$log_http"
wait_for second-log-server 300 answers "http://127.0.0.2:$log_http/healthz"
tree=$(create_tree balancing)
# GetLatestSignedLogRootRequest: log_id = 1.
python3 - "$tree" "$RUN/body" <<'PY'
import sys

number, out = int(sys.argv[1]), bytearray([8])
while number > 127:
    out.append(number & 127 | 128)
    number >>= 7
open(sys.argv[2], "wb").write(bytes(out + bytes([number])))
PY
printf '127.0.0.1 localhost\n127.0.0.1 trillian.test\n127.0.0.2 trillian.test\n' >"$RUN/hosts"

# counted ADDRESS: calls of GetLatestSignedLogRoot that the log server there has had.
counted() {
  curl --silent --fail "http://$1:$log_http/metrics" |
    awk '/^log_rpc_requests\{.*GetLatestSignedLogRoot"/ { sum += $2 } END { print sum + 0 }'
}

failed=0
for balancing in pick_first round_robin; do
  cat >"$RUN/plan.yaml" <<YAML
target: { url: "http://trillian.test:$log_rpc", connection: { http: 2, balancing: $balancing } }
workloads:
  - name: root
    http: { grpc: /trillian.TrillianLog/GetLatestSignedLogRoot, body_file: $RUN/body }
    load: { users: 8, operations: $CALLS }
threads: { shards: 1 }
YAML
  before=("$(counted 127.0.0.1)" "$(counted 127.0.0.2)")
  # shellcheck disable=SC2016
  "${in_namespace[@]}" sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$RUN/hosts" "$HAMMER" run "$RUN/plan.yaml" \
    --out "$RUN/report.json" >"$RUN/log/hammer.log" 2>&1 ||
    # What health says of a machine that has other work (5) is no matter of counts.
    (($? == 5)) || { tail -n 20 "$RUN/log/hammer.log" >&2; die "hammer found fault under $balancing"; }
  after=("$(counted 127.0.0.1)" "$(counted 127.0.0.2)")
  servers="$((after[0] - before[0])) $((after[1] - before[1]))"
  peers=$(jq -r --arg port "$log_rpc" '(.connections[0].peers // []) as $peers | ["127.0.0.1", "127.0.0.2"]
    | map(. as $ip | [$peers[] | select(.peer == "\($ip):\($port)") | .requests] | add // 0) | join(" ")' "$RUN/report.json")
  printf '%-11s by the servers: %-12s by hammer: %s\n' "$balancing" "$servers" "$peers"
  read -r first second <<<"$servers"
  case $balancing in
    pick_first) ((first * second == 0 && first + second == CALLS)) || failed=1 ;;
    round_robin) ((first == second && first + second == CALLS)) || failed=1 ;;
  esac
  [[ $servers == "$peers" ]] || failed=1
done
((failed == 0)) || die "calls were not spread as the plan says, or not counted alike"
