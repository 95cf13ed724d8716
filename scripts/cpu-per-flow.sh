#!/usr/bin/env bash
# What a flow of Sigstore costs hammer and the embedded services: CPU, user and system, of either process for each operation that was
# accepted. The services are `hammer lab sigstore` in another process, and everything that they answer is verified.
#   scripts/cpu-per-flow.sh [FLOW...]   of sign, verify, timestamp, timestamp-http, rekor2, rekor2-http; all of them without one
#   ROUNDS=3 SECONDS_OF_LOAD=8 WARM_UP=1 are the defaults; flows take turns. CPU is that of warm-up, measurement and drain, of hammer
#   its start as well
#   SIGN_RATE=1000 VERIFY_RATE=2000 TIMESTAMP_RATE=2000 REKOR2_RATE=1000, flows a second
#   CORE=1 LAB_CORE=0             pins hammer and the services to one core each
#   HAMMER names the binary, LAB that of the services
# `-http` sends the bytes of one such request by `http`, and verifies nothing. Since a log takes an entry once, rekor2-http goes to
# `hammer lab http`, whose answers are as long and come once a second as well. Exits 1 where an operation failed or a promise was not kept.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need python3 setsid openssl
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
LAB=${LAB:-$HAMMER}
flows=("$@")
((${#flows[@]})) || flows=(sign verify timestamp timestamp-http rekor2 rekor2-http)

run_folder up
trap 'stop_all lab plain >&2' EXIT
pinned=() hammer=("$HAMMER" run)
[[ -z ${LAB_CORE:-} ]] || pinned=(taskset -c "$LAB_CORE")
[[ -z ${CORE:-} ]] || hammer=(taskset -c "$CORE" "${hammer[@]}")
start lab "${pinned[@]}" "$LAB" lab sigstore --out "$RUN/lab"
start plain "${pinned[@]}" "$LAB" lab http --set status=201 --set body_size=2kB \
  --set 'faults.rules=[{throttle: [{duty: 2%, period: 1s}]}]'
wait_for lab 60 grep -q '^{.*fulcio_url' "$RUN/log/lab.log"
wait_for plain 60 grep -q url "$RUN/log/plain.log"
read -r pid _ <"$RUN/pid/lab"
read -r plain _ <"$RUN/pid/plain"

# What `http` sends: a query for a timestamp, and an entry of Rekor v2.
cd "$RUN"
printf 'an artifact' >artifact
openssl ts -query -data artifact -sha256 -cert -out timestamp.bin 2>/dev/null
openssl ecparam -name prime256v1 -genkey -noout -out key.pem
openssl dgst -sha256 -sign key.pem -out signature artifact
openssl ec -in key.pem -pubout -outform DER -out key.der 2>/dev/null
python3 - <<'PY'
import base64, hashlib, json

text = lambda name: base64.b64encode(open(name, "rb").read()).decode()
digest = base64.b64encode(hashlib.sha256(open("artifact", "rb").read()).digest()).decode()
verifier = {"publicKey": {"rawBytes": text("key.der")}, "keyDetails": "PKIX_ECDSA_P256_SHA_256"}
request = {"digest": digest, "signature": {"content": text("signature"), "verifier": verifier}}
json.dump({"hashedRekordRequestV002": request}, open("rekor2.json", "w"))
PY

# plan FLOW ROUND: its plan, in JSON.
plan() {
  python3 - "$1" "$2" <<'PY'
import json, os, sys

flow, number = sys.argv[1], lambda name, default: int(os.environ.get(name, default))
# What they say for people may come before it.
told = lambda name: next(json.loads(line) for line in open(f"log/{name}.log") if line.startswith("{"))
target, plain = told("lab"), told("plain")["url"]
target["identity"] = {"issuer": "http://issuer.hammer.test", "listen": "127.0.0.1:0"}
phases = {"warm_up": f"{number('WARM_UP', 1)}s", "measurement": f"{number('SECONDS_OF_LOAD', 8)}s", "drain": "30s"}
post = lambda url, path, body, media: (
    {"url": url},
    "http",
    {"method": "POST", "path": path, "body_file": body, "headers": {"content-type": media}},
)
sigstore = {"sigstore": target}
of, section, operations = {
    "fill": (sigstore, "sigstore_sign", {}),
    "sign": (sigstore, "sigstore_sign", {}),
    "verify": (sigstore, "sigstore_verify", {"corpus": "corpus.jsonl"}),
    "timestamp": (sigstore, "sigstore_timestamp", {}),
    "timestamp-http": post(target["timestamp_url"], "/api/v1/timestamp", "timestamp.bin", "application/timestamp-query"),
    "rekor2": (sigstore, "sigstore_sign", {"fulcio": "none", "rekor": "v2", "timestamp": False}),
    "rekor2-http": post(plain.rstrip("/"), "/api/v2/log/entries", "rekor2.json", "application/json"),
}[flow]
if section == "sigstore_sign":
    # An entry of Rekor v2 that is there already is answered otherwise.
    operations["stream"] = int(sys.argv[2])
kind = flow.removesuffix("-http").upper()
rates = {"SIGN": 1000, "VERIFY": 2000, "TIMESTAMP": 2000, "REKOR2": 1000}
workload = {"name": "flow", section: operations, "in_flight": 4000}
plan = {"target": of, "workloads": [workload], "phases": phases}
if flow == "fill":
    plan["fill"] = {"workload": "flow", "operations": 2000, "users": 20, "corpus": "corpus.jsonl"}
else:
    workload["load"] = {"rate": f"{number(kind + '_RATE', rates[kind])}/s"}
print(json.dumps(plan))
PY
}

# ticks: CPU that the services have used.
ticks() { awk '{ sub(/.*\) /, ""); ticks += $12 + $13 } END { print ticks }' "/proc/$pid/stat" "/proc/$plain/stat"; }

if [[ " ${flows[*]} " == *" verify "* ]]; then
  plan fill 0 >fill.json
  "${hammer[@]}" fill.json --quiet >log/fill.log 2>&1 || [[ -s corpus.jsonl ]] || die "$(tail -n 5 log/fill.log)"
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
print(f"{flow:<15} {rate:7.0f}/s  hammer {each(used['cpu_user_s'] + used['cpu_system_s']):.3f} ms "
      f"({each(used['cpu_user_s']):.3f} user)  services {each(seconds):.3f} ms  {promises['kept']} promises kept", flush=True)
if accepted != total["offered"] or promises["kept"] != promises["made"]:
    sys.exit(f"{flow}: {total['fates']}, {promises}")
PY
  done
done
