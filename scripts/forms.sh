#!/usr/bin/env bash
# Forms of a report, read by implementations that are not hammer's: the interval log that a run wrote and that of its report by HdrHistogram's own
# library and its log processor (Debian's libhdrhistogram-java), JUnit's XML and the flat table by Python's. What each has is held against the report.
#   scripts/forms.sh
#   HAMMER names the binary, HDRHISTOGRAM the jar
# Exits 1 where a number differs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need javac java python3
jar=${HDRHISTOGRAM:-/usr/share/java/hdrhistogram.jar}
[[ -r $jar ]] || die "$jar is missing: run scripts/install.sh"
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
folder=$(mktemp -d "${TMPDIR:-/tmp}/hammer-forms.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# An open and a closed loop, a flow in steps, refusals, and a threshold that fails; no warm-up, so that percentiles are of the whole run.
cat >"$folder/plan.yaml" <<'YAML'
target: { lab: { gateway: {} } }
workloads:
  - name: pages
    http: { path: "/pages/${seq}", bearer: { minted: { issuer: http://issuer.hammer.test, audience: gateway } } }
    load: { rate: 300/s, arrivals: poisson }
  - name: refused
    http: { path: /pages/1 }
    load: { users: 2, think: 5ms }
  - name: sessions
    http_flows:
      bearer: { minted: { issuer: http://issuer.hammer.test, audience: gateway } }
      flows:
        - name: session
          steps:
            - { name: open, http: { method: POST, path: /sessions, expect: [ 201 ] }, extract: { self: location } }
            - { name: end, http: { method: DELETE, path: "${self}", expect: [ 204 ] } }
    load: { rate: 50/s }
phases: { measurement: 4s }
interval: 100ms
thresholds: [ "count(accepted) > 10", { expect: "p99(response) < 1us", series: pages/get } ]
YAML
"$HAMMER" run "$folder/plan.yaml" --quiet --tolerate-lag --hlog "$folder/run.hlog" --out "$folder/report.json" >"$folder/log" 2>&1 || true
[[ -s $folder/report.json ]] || { cat "$folder/log"; die "there is no report"; }

status=0
held() { python3 -B "$here/forms/held.py" "$1" "$folder/report.json" "$2" || status=1; }

"$HAMMER" report "$folder/report.json" --as hlog >"$folder/report.hlog"
for log in run report; do
  java -cp "$jar" "$here/forms/ReadHlog.java" "$folder/$log.hlog" >"$folder/$log.jsonl"
  held hlog "$folder/$log.jsonl"
  # The tool that comes with it, for one tag: it prints the percentiles of each interval, and of all of them.
  java -cp "$jar" org.HdrHistogram.HistogramLogProcessor -i "$folder/$log.hlog" -tag pages/get >"$folder/$log.processed"
  count=$(sed -n 's/.*"tag":"pages\/get".*"count":\([0-9]*\).*/\1/p' "$folder/$log.jsonl")
  grep -qE "Total count +=  *$count\]" "$folder/$log.processed" ||
    { printf 'HistogramLogProcessor does not have the %s of pages/get in %s.hlog\n' "$count" "$log" >&2; tail -n 3 "$folder/$log.processed" >&2; status=1; }
done
"$HAMMER" report "$folder/report.json" --as csv >"$folder/report.csv"
held csv "$folder/report.csv"
"$HAMMER" report "$folder/report.json" --as junit >"$folder/report.xml"
held junit "$folder/report.xml"
exit "$status"
