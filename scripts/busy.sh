#!/usr/bin/env bash
# Whether hammer's health tells a busy machine from a standstill: with one busy loop of ordinary priority on each of two cores, runs of 100/s for
# a second end healthy (19 of 20 at least), and those in the middle of which hammer is stopped for 150 ms never do.
#   scripts/busy.sh
#   RUNS=20 (of each kind), HAMMER (the binary), OUT (a folder for the reports). Nothing else may want the cores meanwhile.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need jq taskset
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
RUNS=${RUNS:-20}
OUT=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/hammer-busy.XXXXXX")}
mkdir -p "$OUT"
cat >"$OUT/plan.yaml" <<'YAML'
target: { lab: { http: {} } }
workloads: [{ name: web, http: {}, load: { rate: 100/s } }]
phases: { measurement: 1s }
interval: 100ms
YAML

loops=()
end_loops() { kill "${loops[@]}" 2>/dev/null || true; }
trap end_loops EXIT
for core in 0 1; do
  taskset -c "$core" bash -c 'while :; do :; done' &
  loops+=("$!")
done

# one NAME: a run whose report is of that name; whether it is healthy.
one() {
  taskset -c 0,1 "$HAMMER" run "$OUT/plan.yaml" --quiet --out "$OUT/$1.json" --events "$OUT/$1.jsonl" >"$OUT/$1.text" 2>&1 || true
  jq -e .health.healthy "$OUT/$1.json" >/dev/null
}

# stopped NAME: the same, and hammer is stopped for 150 ms once the third interval is told.
stopped() {
  taskset -c 0,1 "$HAMMER" run "$OUT/plan.yaml" --quiet --out "$OUT/$1.json" --events "$OUT/$1.jsonl" >"$OUT/$1.text" 2>&1 &
  local pid=$!
  until grep -qs '"index":2' "$OUT/$1.jsonl" || [[ ! -e /proc/$pid ]]; do sleep 0.01; done
  kill -STOP "$pid" && sleep 0.15
  kill -CONT "$pid"
  wait "$pid" || true
  jq -e .health.healthy "$OUT/$1.json" >/dev/null
}

healthy=0 missed=0
for ((run = 1; run <= RUNS; run++)); do
  if one "busy-$run"; then healthy=$((healthy + 1)); fi
  if stopped "stopped-$run"; then missed=$((missed + 1)); fi
done
printf '%s of %s beside busy loops are healthy, and %s of %s that were stopped for 150 ms; reports in %s\n' \
  "$healthy" "$RUNS" "$missed" "$RUNS" "$OUT"
((healthy * 20 >= RUNS * 19 && missed == 0))
