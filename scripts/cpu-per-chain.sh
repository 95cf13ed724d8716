#!/usr/bin/env bash
# What a chain costs hammer: CPU, user and system, of its process for each chain that it mints, submits, whose SCT it
# verifies and whose leaf it finds in the published tree. The log is `hammer lab ct` in another process.
#   scripts/cpu-per-chain.sh [MOST_MS]   exits 1 above MOST_MS, or when a chain is without its verdict
#   RATE=1000 SECONDS_OF_LOAD=30 WARM_UP=2 are the defaults: rates and lateness are of what comes after the warm-up, CPU of both
#   HAMMER names the binary, REPORT keeps the report
#   CORE=1 LOG_CORE=0             pins hammer and the log to one core each
#   LOG_SETTINGS="batch_max_age=50ms checkpoint_interval=100ms"    settings of the log, as `hammer lab ct --set` takes them
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need python3 setsid
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")

run_folder up
trap 'stop_all log >&2' EXIT
plan=$RUN/plan.yaml report=${REPORT:-$RUN/report.json}
cat >"$plan" <<PLAN
name: cpu-per-chain
target:
  log: { submission_url: "http://127.0.0.1:1/lab" }
workloads:
  - name: submit
    ct_submit: { audit: true }
    load: { rate: ${RATE:-1000}/s }
    in_flight: 8000
phases: { warm_up: ${WARM_UP:-2}s, measurement: ${SECONDS_OF_LOAD:-30}s, drain: 60s }
PLAN

field() {
  python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())[sys.argv[2]])' "$RUN/log/log.log" "$1"
}
log=("$HAMMER" lab ct --roots-of "$plan") hammer=("$HAMMER" run "$plan")
for setting in ${LOG_SETTINGS:-}; do log+=(--set "$setting"); done
[[ -z ${LOG_CORE:-} ]] || log=(taskset -c "$LOG_CORE" "${log[@]}")
[[ -z ${CORE:-} ]] || hammer=(taskset -c "$CORE" "${hammer[@]}")
start log "${log[@]}"
wait_for log 60 field submission_url
# Its exit code is of no use here: on busy cores health may speak against times, and they are not what is asked.
"${hammer[@]}" --quiet --out "$report" >"$RUN/log/hammer.log" 2>&1 \
  --set "target.log.submission_url=$(field submission_url)" --set "target.log.public_key=$(field public_key)" ||
  [[ -s $report ]] || die "$(tail -n 5 "$RUN/log/hammer.log")"

read -r pid _ <"$RUN/pid/log"
python3 - "$report" "${1:-inf}" "/proc/$pid/stat" <<'PY'
import json, os, sys

report, most = json.load(open(sys.argv[1])), float(sys.argv[2])
fields = open(sys.argv[3]).read().rsplit(")", 1)[1].split()
log_seconds = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
used, promises = report["resources"], report["promises"]["all"]
milliseconds = 1e3 * (used["cpu_user_s"] + used["cpu_system_s"]) / max(promises["kept"], 1)
print(f"{milliseconds:.3f} ms of CPU a chain: {promises['kept']} chains of {report['totals']['all']['offered']} kept, "
      f"{used['cpu_user_s']:.2f} s user + {used['cpu_system_s']:.2f} s system, {used['max_rss_bytes'] / 1e6:.0f} MB")
print(f"{1e3 * log_seconds / max(promises['kept'], 1):.3f} ms of the log's CPU a chain")
for series in report["series"]:
    if series["kind"] == "operation" and series["measurement"]["offered"]:
        measured = series["measurement"]
        lag, fates, rates = measured["durations"]["dispatch_lag"], measured["fates"], measured["rates"]
        print(f"{series['path']}: {rates['offered_per_s']:.0f}/s offered, {rates['accepted_per_s']:.0f}/s accepted; "
              f"{fates['starved']} starved, {fates['shed']} shed; dispatch lag "
              f"p50 {lag['p50_ns'] / 1e6:.3f} ms, p99 {lag['p99_ns'] / 1e6:.3f} ms")
for reason in report["verdict"]["reasons"]:
    print("verdict:", reason["text"])
open_promises = {name: promises[name] for name in ("broken", "pending", "unchecked") if promises[name]}
if not promises["kept"] or open_promises:
    sys.exit(f"not every chain was found: {promises}")
sys.exit(milliseconds > most)
PY
