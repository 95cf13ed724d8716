#!/usr/bin/env bash
# A run's metrics, read by a real Prometheus (Debian's) once a second and once more after the end: every count that it has then is held against the report.
#   scripts/prometheus.sh [PLAN]     configs/http-quickstart.yaml, shortened, without one
#   HAMMER names the binary
# Exits 1 where a count differs, or where promtool finds fault with the page.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need prometheus promtool curl jq
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
plan=${1:-$here/../configs/http-quickstart.yaml}

run_folder up
trap 'stop_all prometheus hammer >&2' EXIT
read -r metrics_port port < <(free_ports 2)
cat >"$RUN/prometheus.yml" <<YAML
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: hammer, static_configs: [ { targets: [ "127.0.0.1:$metrics_port" ] } ] }
YAML
start prometheus prometheus --config.file="$RUN/prometheus.yml" --storage.tsdb.path="$RUN/data" --web.listen-address="127.0.0.1:$port" \
  --storage.tsdb.retention.time=1h
wait_for prometheus 60 answers "http://127.0.0.1:$port/-/ready"

# query EXPRESSION: what Prometheus has, as JSON.
query() { curl --silent --fail --max-time 10 --get "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$1"; }

# It asks nobody in its first seconds.
asks() { query 'up{job="hammer"}' | jq -e '.data.result | length > 0'; }
wait_for prometheus 60 asks

# The report says how the run went; here it is asked for its counts alone.
"$HAMMER" run "$plan" --smoke --metrics "127.0.0.1:$metrics_port" --metrics-linger 120s --out "$RUN/report.json" >"$RUN/log/run.out" 2>"$RUN/log/run.err" || true
[[ -s $RUN/report.json ]] || { cat "$RUN/log/run.err"; die "there is no report"; }

# sum EXPRESSION: what Prometheus has, as a number; samples of the last minute, since hammer is gone.
sum() {
  query "sum(last_over_time($1[1m]))" |
    jq -r '.data.result[0].value[1] // "nothing"'
}

# agrees NAME EXPRESSION JQ: Prometheus has what the report says.
differ=0 held=0
agrees() {
  local found said deadline=$((SECONDS + 15))
  said=$(jq "$3" "$RUN/report.json")
  # It is there a moment after it was read.
  until found=$(sum "$2") && [[ $found == "$said" ]]; do
    ((SECONDS < deadline)) || { printf '%s: Prometheus has %s, the report says %s\n' "$1" "$found" "$said"; differ=1; return; }
    sleep 0.2
  done
  held=$((held + 1))
}

operations='[.series[] | select(.kind == "operation") | .warm_up, .measurement]'
agrees offered 'hammer_offered_total{kind="operation"}' "$operations | map(.offered) | add"
agrees completed 'hammer_completed_total{kind="operation"}' "$operations | map(.completed) | add"
agrees answers 'hammer_response_time_seconds_count{kind="operation"}' "$operations | map(.durations.response_time | if . then .count - .infinite else 0 end) | add"
agrees 'bytes out' 'hammer_bytes_total{kind="operation",direction="out"}' "$operations | map(.bytes_out) | add"
agrees 'bytes in' 'hammer_bytes_total{kind="operation",direction="in"}' "$operations | map(.bytes_in) | add"
for fate in $(jq -r '.totals.all.fates | del(.backlog, .in_flight) | keys[]' "$RUN/report.json"); do
  agrees "$fate" "hammer_ended_total{kind=\"operation\",fate=\"$fate\"}" ".totals.all.fates.$fate"
done
while read -r workload series; do
  agrees "$workload/$series" "hammer_ended_total{workload=\"$workload\",series=\"$series\",fate=\"accepted\"}" \
    "[.series[] | select(.path == \"$workload/$series\") | .warm_up.fates.accepted, .measurement.fates.accepted] | add"
done < <(jq -r '.series[] | "\(.workload) \(.name)"' "$RUN/report.json")
for state in made kept broken pending unchecked; do
  agrees "promises $state" "hammer_promises{state=\"$state\"}" ".promises.all.$state"
done
agrees 'exit code' hammer_exit_code .verdict.exit_code
"$HAMMER" report "$RUN/report.json" --as prom | promtool check metrics >"$RUN/log/promtool" 2>&1 || { cat "$RUN/log/promtool"; differ=1; }
scrapes=$(query 'sum_over_time(up{job="hammer"}[5m])' | jq -r '.data.result[0].value[1] // 0')
printf 'Prometheus has %s counts as the report does, of %s scrapes\n' "$held" "$scrapes"
((differ == 0))
