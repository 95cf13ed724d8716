#!/usr/bin/env bash
# What a session of an attestation verifier costs hammer and the embedded verifier: CPU, user and system, of either process for each
# operation that was accepted, and hammer's greatest memory. The verifier is `hammer lab attest` in another process, and every result is verified.
#   scripts/cpu-per-session.sh [FLOW...]   of verify, verify-service-nonce, provision, http; all but the second without one
#   ROUNDS=3 SECONDS_OF_LOAD=8 WARM_UP=1 are the defaults; flows take turns. CPU is that of warm-up, measurement and drain, of hammer its start
#   as well
#   VERIFY_RATE=2000 PROVISION_RATE=2000 HTTP_RATE=6000, operations a second; DEVICES=10000, devices that were provisioned before, whose
#   numbers are STRIDE=1 apart
#   RELEASE=v0.0.2502             of the verifier
#   CORE=1 LAB_CORE=0             pins hammer and the verifier to one core each
#   HAMMER names the binary, LAB that of the verifier
# `http` posts as many bytes as a token has to `hammer lab http` and verifies nothing; a session has three requests.
# Exits 1 where an operation failed or a promise was not kept.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need python3 setsid
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
LAB=${LAB:-$HAMMER}
flows=("$@")
((${#flows[@]})) || flows=(verify provision http)

run_folder up
trap 'stop_all lab plain >&2' EXIT
pinned=() hammer=("$HAMMER" run)
[[ -z ${LAB_CORE:-} ]] || pinned=(taskset -c "$LAB_CORE")
[[ -z ${CORE:-} ]] || hammer=(taskset -c "$CORE" "${hammer[@]}")
start lab "${pinned[@]}" "$LAB" lab attest --set "release=${RELEASE:-v0.0.2502}"
start plain "${pinned[@]}" "$LAB" lab http --set body_size=600B
wait_for lab 60 grep -q '^{.*verification_url' "$RUN/log/lab.log"
wait_for plain 60 grep -q url "$RUN/log/plain.log"
read -r pid _ <"$RUN/pid/lab"
read -r plain _ <"$RUN/pid/plain"
cd "$RUN"
head -c 546 /dev/zero >token.bin

# plan FLOW ROUND: its plan, in JSON.
plan() {
  python3 - "$1" "$2" <<'PY'
import json, os, sys

flow, number = sys.argv[1], lambda name, default: int(os.environ.get(name, default))
# What they say for people may come before it.
told = lambda name: next(json.loads(line) for line in open(f"log/{name}.log") if line.startswith("{"))
phases = {"warm_up": f"{number('WARM_UP', 1)}s", "measurement": f"{number('SECONDS_OF_LOAD', 8)}s", "drain": "30s"}
devices, stride = number("DEVICES", 10000), number("STRIDE", 1)
attest = {"attest": told("lab")}
post = {"method": "POST", "body_file": "token.bin", "headers": {"content-type": "application/psa-attestation-token"}}
verify = {"devices": {"count": devices, "stride": stride}}
of, section, operations = {
    "fill": (attest, "attest_provision", {"devices": {"count": devices, "stride": stride}}),
    "verify": (attest, "attest_verify", verify),
    "verify-service-nonce": (attest, "attest_verify", verify | {"nonce": "service"}),
    "provision": (attest, "attest_provision", {"devices": {"stream": int(sys.argv[2]), "stride": stride}}),
    "http": ({"url": told("plain")["url"]}, "http", post),
}[flow]
rates = {"VERIFY": 2000, "PROVISION": 2000, "HTTP": 6000}
kind = flow.split("-")[0].upper()
workload = {"name": "flow", section: operations, "in_flight": 4000}
plan = {"target": of, "workloads": [workload], "phases": phases}
if flow == "fill":
    plan["fill"] = {"workload": "flow", "operations": devices, "users": 20}
else:
    workload["load"] = {"rate": f"{number(kind + '_RATE', rates[kind])}/s"}
print(json.dumps(plan))
PY
}

# ticks: CPU that the verifier has used.
ticks() { awk '{ sub(/.*\) /, ""); ticks += $12 + $13 } END { print ticks }' "/proc/$pid/stat" "/proc/$plain/stat"; }

if [[ " ${flows[*]} " == *" verify"* ]]; then
  plan fill 0 >fill.json
  "${hammer[@]}" fill.json --quiet >log/fill.log 2>&1 || die "$(tail -n 5 log/fill.log)"
fi
for ((round = 1; round <= ${ROUNDS:-3}; round++)); do
  for flow in "${flows[@]}"; do
    plan "$flow" "$round" >"$flow.plan.json"
    before=$(ticks)
    # Its exit code is of no use here: on busy cores health may speak against times, and they are not what is asked.
    "${hammer[@]}" "$flow.plan.json" --quiet --out "$flow.json" >"log/$flow.log" 2>&1 || [[ -s $flow.json ]] ||
      die "$(tail -n 5 "log/$flow.log")"
    python3 - "$flow" "$(($(ticks) - before))" <<'PY'
import json, os, sys

flow, seconds = sys.argv[1], int(sys.argv[2]) / os.sysconf("SC_CLK_TCK")
report = json.load(open(f"{flow}.json"))
used, promises, total = report["resources"], report["promises"]["all"], report["totals"]["all"]
accepted = total["fates"]["accepted"]
each = lambda seconds: 1e3 * seconds / max(accepted, 1)
rate = report["totals"]["measurement"]["fates"]["accepted"] / float(os.environ.get("SECONDS_OF_LOAD", 8))
print(f"{flow:<20} {rate:7.0f}/s  hammer {each(used['cpu_user_s'] + used['cpu_system_s']):.4f} ms "
      f"({each(used['cpu_user_s']):.4f} user, {used['max_rss_bytes'] / 1e6:.1f} MB)  verifier {each(seconds):.3f} ms  "
      f"{promises['kept']} promises kept", flush=True)
if accepted != total["offered"] or promises["kept"] != promises["made"]:
    sys.exit(f"{flow}: {total['fates']}, {promises}")
PY
  done
done
