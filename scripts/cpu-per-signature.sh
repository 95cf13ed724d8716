#!/usr/bin/env bash
# What a signature costs hammer and the embedded signature service: CPU, user and system, of either process for each operation that was
# accepted, and hammer's greatest memory. The service is `hammer lab pki` in another process, and every file is verified.
#   scripts/cpu-per-signature.sh [FLOW...]   of cades-rsa, cades-p256, cades-t-p256, pades-rsa, pades-p256, pades-t-p256, auth-rsa, auth-p256,
#   timestamp; all without one
#   ROUNDS=3 SECONDS_OF_LOAD=8 WARM_UP=1 RATE=100 SIZE=137KiB are the defaults; flows take turns. CPU is that of warm-up, measurement and drain,
#   of hammer its start as well
#   DSS=1                         adds dss-cades-rsa, dss-cades-p256, dss-digest-p256, dss-pades-rsa and dss-pades-p256, on scripts/targets/dss.sh
#   CORE=1 LAB_CORE=0             pins hammer and the service to one core each
#   HAMMER names the binary, LAB that of the service, SIGNING that of `signing`, which says what a signature of ring's takes: in the same run, it makes
#   20 a second beside hammer with the flow's key, and their mean is printed as `ring`, since caches are as warm to it as to hammer (in a tight loop
#   one of RSA takes a fifth less, and of P-256 half). `+` is what hammer takes beside it. Authentication signs as well, a timestamp does not
# Exits 1 where an operation failed or a promise was not kept.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"
# shellcheck source=scripts/targets/test-pki.sh
source "$here/targets/test-pki.sh"

need python3 openssl setsid
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
LAB=${LAB:-$HAMMER}
SIGNING=$(built signing hammer-benches "${SIGNING:-}")
flows=("$@")
((${#flows[@]})) || flows=(cades-rsa cades-p256 cades-t-p256 pades-rsa pades-p256 pades-t-p256 auth-rsa auth-p256 timestamp)

run_folder up
dss=
ended() {
  cd /
  stop_all lab >&2
  [[ -z $dss ]] || RUN=$dss "$here/targets/dss.sh" down >&2
}
trap ended EXIT
pinned=() hammer=("$HAMMER" run)
[[ -z ${LAB_CORE:-} ]] || pinned=(taskset -c "$LAB_CORE")
[[ -z ${CORE:-} ]] || hammer=(taskset -c "$CORE" "${hammer[@]}")
test_pki
start lab "${pinned[@]}" "$LAB" lab pki --out "$RUN/lab"
wait_for lab 60 grep -q '^{.*url' "$RUN/log/lab.log"
read -r lab_pid _ <"$RUN/pid/lab"
if [[ -n ${DSS:-} ]]; then
  ((${#@})) || flows+=(dss-cades-rsa dss-cades-p256 dss-digest-p256 dss-pades-rsa dss-pades-p256)
  dss=$(mktemp -d "${TMPDIR:-/tmp}/hammer-target.XXXXXX")
  RUN=$dss "${pinned[@]}" "$here/targets/dss.sh" up >/dev/null
  read -r dss_pid _ <"$dss/pid/dss"
fi
cd "$RUN"
for signer in signer signer-p256; do
  openssl pkcs8 -topk8 -nocrypt -in "pki/$signer.key" -outform DER -out "pki/$signer.der"
done

# plan FLOW: its plan, in JSON.
plan() {
  python3 - "$1" "$dss" <<'PY'
import json, os, shlex, sys

flow, dss = sys.argv[1:]
setting = lambda name, default: os.environ.get(name, default)
signer = "signer-p256" if flow.endswith("p256") else "signer"
signers = lambda pki: [{"key_file": f"{pki}/{signer}.key", "certificate_file": f"{pki}/{signer}.chain.pem"}]
if flow.startswith("dss-"):
    # What they say for people may come before it.
    env = dict(line.split("=", 1) for line in open(f"{dss}/env").read().splitlines())
    pki = env["PKI"]
    target = {"url": env["DSS_URL"], "dialect": "dss", "timestamp_roots_pem_files": [f"{pki}/timestamp-roots.pem"]}
else:
    pki = "pki"
    target = next(json.loads(line) for line in open("log/lab.log") if line.startswith("{"))
target["signers"] = signers(pki)
parts = flow.removeprefix("dss-").split("-")
workload = {"name": "flow", "load": {"rate": f"{setting('RATE', '100')}/s"}}
if parts[0] == "auth":
    workload["pki_authenticate"] = {}
elif parts[0] == "timestamp":
    workload["pki_timestamp"] = {}
else:
    kind = "cades" if parts[0] == "digest" else parts[0]
    kind += "-t" if "t" in parts[1:] else ""
    workload["pki_sign"] = {"mix": {kind: 1}, "size": setting("SIZE", "137KiB"), "by_digest": parts[0] == "digest"}
phases = {"warm_up": f"{setting('WARM_UP', '1')}s", "measurement": f"{setting('SECONDS_OF_LOAD', '8')}s", "drain": "60s"}
print(json.dumps({"target": {"pki": target}, "workloads": [workload], "phases": phases}))
PY
}

# ring FLOW: milliseconds of CPU that ring takes for a signature with the flow's key, during measurement; nothing where none is made.
ring() {
  local key=pki/signer.der
  [[ $1 != *p256 ]] || key=pki/signer-p256.der
  [[ $1 == timestamp ]] || "$SIGNING" "$key" 20 "${SECONDS_OF_LOAD:-8}"
}

# ticks PID: CPU that the process has used.
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }

for ((round = 1; round <= ${ROUNDS:-3}; round++)); do
  for flow in "${flows[@]}"; do
    plan "$flow" >"$flow.plan.json"
    service=$lab_pid
    [[ $flow != dss-* ]] || service=$dss_pid
    ring "$flow" >ring-ms &
    beside=$!
    before=$(ticks "$service")
    # Its exit code is of no use here: on busy cores health may speak against times, and they are not what is asked.
    "${hammer[@]}" "$flow.plan.json" --quiet --out "$flow.json" >"log/$flow.log" 2>&1 || [[ -s $flow.json ]] ||
      die "$(tail -n 5 "log/$flow.log")"
    wait "$beside"
    used=$(($(ticks "$service") - before))
    python3 - "$flow" "$used" "$(<ring-ms)" <<'PY'
import json, os, sys

flow, seconds = sys.argv[1], int(sys.argv[2]) / os.sysconf("SC_CLK_TCK")
ring = float(sys.argv[3] or 0)
report = json.load(open(f"{flow}.json"))
used, promises, total = report["resources"], report["promises"]["all"], report["totals"]["all"]
accepted = total["fates"]["accepted"]
each = lambda seconds: 1e3 * seconds / max(accepted, 1)
rate = report["totals"]["measurement"]["fates"]["accepted"] / float(os.environ.get("SECONDS_OF_LOAD", 8))
hammer = each(used["cpu_user_s"] + used["cpu_system_s"])
print(f"{flow:<16} {rate:6.0f}/s  hammer {hammer:.3f} ms = ring {ring:.3f} + {hammer - ring:.3f} "
      f"({each(used['cpu_user_s']):.3f} user, {used['max_rss_bytes'] / 1e6:.1f} MB)  service {each(seconds):.2f} ms  "
      f"{promises['kept']} promises kept", flush=True)
if accepted != total["offered"] or promises["kept"] != promises["made"]:
    sys.exit(f"{flow}: {total['fates']}, {promises}")
PY
  done
done
