#!/usr/bin/env bash
# Sign flows by k6, as the published scripts for Red Hat Trusted Artifact Signer have them, and by hammer, in turn, against the same servers:
# flows a second and CPU seconds of either, k6's with those of its helper.
#   scripts/targets/sigstore.sh up full             # without ISSUER, so that OIDC_KEY is there to mint the one token; prints RUN
#   RUN=FOLDER scripts/rhtas.sh
#   VUS=5 ROUNDS=6 SECONDS_EACH=120 are the defaults
# HAMMER and K6 name the programs (K6: go install go.k6.io/k6@v1.2.3); the helper is built with Go.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"
need curl go jq openssl python3
VUS=${VUS:-5} ROUNDS=${ROUNDS:-6} SECONDS_EACH=${SECONDS_EACH:-120}
K6=${K6:-$(command -v k6 || echo "$HAMMER_TARGETS_BIN/k6")}
[[ -x $K6 ]] || die "k6 is not there: K6 names it (go install go.k6.io/k6@v1.2.3)" 3
[[ -n ${RUN:-} && -r $RUN/env ]] || die "RUN must name the run folder that scripts/targets/sigstore.sh up printed" 2
# shellcheck source=/dev/null
source "$RUN/env"
for name in FULCIO_URL REKOR_URL TSA_URL TRUSTED_ROOT OIDC_ISSUER OIDC_KEY; do
  [[ -n ${!name:-} ]] || die "$name is not in $RUN/env: the servers are to be those of 'up rekor1' or 'up full', without ISSUER" 2
done
HAMMER=$(realpath "$(built hammer hammer-cli "${HAMMER:-}")")
work=$(mktemp -d "${TMPDIR:-/tmp}/hammer-rhtas.XXXXXX")
helper_pid=
cleanup() {
  [[ -z $helper_pid ]] || kill "$helper_pid" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

export IDENTITY=jdoe@redhat.com
b64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
token() {
  local now head body
  now=$(date +%s)
  head=$(printf '{"alg":"RS256","typ":"JWT","kid":"k1"}' | b64url)
  body=$(jq -cnj --arg iss "$OIDC_ISSUER" --arg email "$IDENTITY" --argjson now "$now" '{iss: $iss, sub: $email, aud: "sigstore",
    email: $email, email_verified: true, iat: $now, exp: ($now + 86400)}' | b64url)
  printf '%s.%s.%s' "$head" "$body" "$(printf '%s.%s' "$head" "$body" | openssl dgst -sha256 -sign "$OIDC_KEY" -binary | b64url)"
}
(umask 077 && token >"$work/token")

GO111MODULE=off go build -o "$work/helper" "$here/rhtas/helper/main.go"
read -r port <<<"$(free_ports 1)"
LISTEN=127.0.0.1:$port TSA_URL=$TSA_URL "$work/helper" >"$work/helper.log" 2>&1 &
helper_pid=$!
export HELPER_URL=http://127.0.0.1:$port FULCIO_URL REKOR_URL VUS LENGTH=$SECONDS_EACH
for ((tries = 0; tries < 100; tries++)); do
  ! answers "$HELPER_URL/generate-payloads" || break
  sleep 0.1
done

# cpu_ticks PID: user and system time of a process so far, in ticks.
cpu_ticks() { python3 -c 'import sys; f = open(f"/proc/{sys.argv[1]}/stat").read().rsplit(")", 1)[1].split(); print(int(f[11]) + int(f[12]))' "$1"; }
# timed FILE COMMAND...: its output to FILE, and its CPU seconds, user and system, to FILE.cpu. An exit code is told, and the rounds go on.
timed() {
  local file=$1
  shift
  python3 -B - "$file" "$@" <<'PY'
import resource, subprocess, sys

file, command = sys.argv[1], sys.argv[2:]
with open(file, "wb") as out, open(f"{file}.err", "wb") as err:
    status = subprocess.run(command, stdout=out, stderr=err).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(f"{file}.cpu", "w") as cpu:
    print(used.ru_utime + used.ru_stime, file=cpu)
if status:
    said = (open(f"{file}.err", errors="replace").read().splitlines() or [""])[0]
    print(f"{command[0]} ended with {status}: {said}", file=sys.stderr)
PY
}

k6_round() {
  local before after
  before=$(cpu_ticks "$helper_pid")
  OIDC_TOKEN=$(<"$work/token") timed "$work/k6.json" "$K6" run --quiet "$here/rhtas/sign.js"
  after=$(cpu_ticks "$helper_pid")
  jq -r --argjson cpu "$(<"$work/k6.json.cpu")" --argjson helper "$(python3 -c "import os; print(($after - $before) / os.sysconf('SC_CLK_TCK'))")" \
    --argjson seconds "$SECONDS_EACH" '.metrics as $m | ($m.flows.count // 0) as $flows
    | ["k6", $flows / $seconds, $cpu + $helper, ($cpu + $helper) * 1000 / ([$flows, 1] | max), $m.http_reqs.rate, $m.http_req_duration["p(95)"]] | @tsv' \
    "$work/k6.json"
}

hammer_round() {
  timed "$work/hammer.json" "$HAMMER" run "$here/../configs/rhtas-sign-load.yaml" --out - --seed "$1" \
    --set "target.sigstore.fulcio_url=$FULCIO_URL" --set "target.sigstore.rekor_url=$REKOR_URL" --set "target.sigstore.timestamp_url=$TSA_URL" \
    --set "target.sigstore.trusted_root=$TRUSTED_ROOT" --set "target.sigstore.identity={token: {file: $work/token}}" \
    --set "workloads.sign.load={users: $VUS}" --set phases.warm_up=0s --set "phases.measurement=${SECONDS_EACH}s"
  jq -r --argjson cpu "$(<"$work/hammer.json.cpu")" --argjson seconds "$SECONDS_EACH" '.totals.all.fates.accepted as $flows | .compat.jobs[0] as $job
    | ["hammer", $flows / $seconds, $cpu, $cpu * 1000 / ([$flows, 1] | max), $job.requests_per_s, ($job.p95_ns.beyond_ns? // $job.p95_ns // 0) / 1e6] | @tsv' \
    "$work/hammer.json"
}

printf '%d users, %d rounds of %d s each\n' "$VUS" "$ROUNDS" "$SECONDS_EACH"
printf '%-6s %-7s %9s %8s %13s %15s %9s\n' round client flows/s 'CPU s' 'CPU ms a flow' 'http_reqs/s' 'p95 ms'
for ((round = 1; round <= ROUNDS; round++)); do
  # Whoever is first has the smaller tree.
  clients=(k6 hammer)
  ((round % 2)) || clients=(hammer k6)
  for client in "${clients[@]}"; do
    row=$("${client}_round" "$round")
    printf '%s\n' "$row" >>"$work/rows"
    IFS=$'\t' read -r who flows cpu each requests p95 <<<"$row"
    LC_ALL=C printf '%-6s %-7s %9.2f %8.2f %13.3f %15.1f %9.1f\n' "$round" "$who" "$flows" "$cpu" "$each" "$requests" "$p95"
  done
done
python3 -B - "$work/rows" <<'PY'
import statistics, sys

rows = [line.split("\t") for line in open(sys.argv[1])]
median = {client: [statistics.median(float(row[place]) for row in rows if row[0] == client) for place in (1, 3)] for client in ("k6", "hammer")}
for client, (flows, cpu) in median.items():
    print(f"{client}: median {flows:.2f} flows/s, {cpu:.3f} CPU ms a flow")
if median["k6"][0]:
    print(f"hammer's flows/s are {100 * (median['hammer'][0] / median['k6'][0] - 1):+.1f} % of k6's")
PY
