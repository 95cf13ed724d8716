#!/usr/bin/env bash
# What a chain costs TesseraCT, by who sends it and how: CPU, user and system, of its process for each leaf by which its tree
# grew, and how often its threads went to sleep for one. Every variant has a new log, and all come in turn, round after round.
#   scripts/cpu-of-tesseract.sh [VARIANT...]    all of them without names; TESSERACT_BIN is that of scripts/targets/tesseract.sh
#   RATE=300 SECONDS_OF_LOAD=20 ROUNDS=3 are the defaults; the median is printed, and the least and the most
#   TESSERACT_HAMMER=FILE and TESSERACT_SOURCE=FOLDER (its module, for the CA of its tests) bring the variant `its-own`
#   TESSERACT_FLAGS is appended to the command line of the log; HAMMER names the binary
#   LOG_CORE=0 CORE=1             pins the log, and who sends, to one core each
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

# What each variant adds to the plan; `its-own` is TesseraCT's hammer, `idle` a log that nobody asks.
declare -A plan_of=(
  [even]=''
  [poisson]='load: { rate: RATE/s, arrivals: poisson }'
  [bursts]='load: { bursts: { size: RATE, every: 1s } }'
  [bursts-50ms]='load: { bursts: { size: TWENTIETH, every: 50ms } }'
  [rsa-subjects]='profiles: { dv-rsa2048-chain2: 1 }'
  [rsa-signers]='signer: rsa2048'
  [rsa]='signer: rsa2048; profiles: { dv-rsa2048-chain2: 1 }'
  [rsa-bursts]='signer: rsa2048; profiles: { dv-rsa2048-chain2: 1 }; load: { bursts: { size: RATE, every: 1s } }'
  [rsa-bursts-50ms]='signer: rsa2048; profiles: { dv-rsa2048-chain2: 1 }; load: { bursts: { size: TWENTIETH, every: 50ms } }'
  [with-root]='with_root: true'
  [own-ca]='ca: { chain: CA_CHAIN, key: CA_KEY }; profiles: { dv-rsa2048-chain2: 1 }'
  [own-ca-bursts]='ca: { chain: CA_CHAIN, key: CA_KEY }; profiles: { dv-rsa2048-chain2: 1 }; load: { bursts: { size: RATE, every: 1s } }'
  [not-audited]='audit: false'
  [idle]=''
  [its-own]=''
)
RATE=${RATE:-300} SECONDS_OF_LOAD=${SECONDS_OF_LOAD:-20}
variants=("$@")
((${#variants[@]} > 0)) || variants=(even poisson bursts bursts-50ms rsa-subjects rsa-signers rsa rsa-bursts rsa-bursts-50ms with-root not-audited idle)
tesseract_binary
need python3 nginx openssl setsid
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
scratch=$(mktemp -d)
trap 'down >&2; rm -rf "$scratch"' EXIT
ca=${TESSERACT_SOURCE:+$TESSERACT_SOURCE/internal/hammer/testdata}

# plan VARIANT FILE: the plan, whose log is named when it is there.
plan() {
  local text=${plan_of[$1]} load="load: { rate: $RATE/s }" keys=() part
  local -a parts
  IFS=';' read -ra parts <<<"$text"
  for part in "${parts[@]}"; do
    part=${part# }
    part=${part//CA_CHAIN/$ca/test_intermediate_ca_cert.pem} part=${part//CA_KEY/$ca/test_intermediate_ca_private_key.pem}
    case $part in
      load:*) load=${part//RATE/$RATE} load=${load//TWENTIETH/$((RATE / 20))} ;;
      ?*) keys+=("$part") ;;
    esac
  done
  cat >"$2" <<PLAN
name: cpu-of-tesseract
seed: 1
target:
  log: { submission_url: "http://127.0.0.1:1/data", monitoring_url: "http://127.0.0.1:1" }
  connection: { max_idle: 4s }
workloads:
  - name: submit
    ct_submit: { $(IFS=,; printf '%s' "${keys[*]}") }
    $load
    in_flight: $((10 * RATE))
health: { on_fail: warn }
phases: { measurement: ${SECONDS_OF_LOAD}s, drain: 20s }
PLAN
}

# used PID: CPU seconds so far, and how often its threads slept of themselves.
used() {
  python3 - "$1" <<'PY'
import os, pathlib, sys

process = pathlib.Path("/proc", sys.argv[1])
fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
slept = sum(int(line.split()[1]) for task in (process / "task").iterdir() for line in (task / "status").read_text().splitlines()
            if line.startswith("voluntary_ctxt"))
print(sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), slept)
PY
}

# down: the log of this run, where there is one.
down() {
  [[ -z ${RUN:-} || ! -d $RUN/pid ]] || RUN=$RUN "$here/targets/tesseract.sh" down
  RUN=
}

tree_size() { curl --silent --fail --max-time 5 "$MONITORING_URL/checkpoint" | sed -n 2p; }

# once VARIANT: one log, one run, and a line of its figures.
once() {
  local variant=$1 pid before after size pin=()
  plan "$variant" "$scratch/plan.yaml"
  RUN=$(mktemp -d "$scratch/run.XXXXXX")
  "$HAMMER" ct roots "$scratch/plan.yaml" >"$scratch/roots.pem" 2>"$scratch/roots.log" || true
  if [[ -n $ca ]]; then cat "$ca/test_root_ca_cert.pem" >>"$scratch/roots.pem"; fi
  RUN=$RUN ROOTS_PEM=$scratch/roots.pem "$here/targets/tesseract.sh" up >"$scratch/up.log" || die "$(tail -n 5 "$scratch/up.log")"
  # shellcheck source=/dev/null
  source "$RUN/env"
  read -r pid _ <"$RUN/pid/tesseract"
  [[ -z ${LOG_CORE:-} ]] || taskset -a -p -c "$LOG_CORE" "$pid" >/dev/null
  [[ -z ${CORE:-} ]] || pin=(taskset -c "$CORE")
  before=$(used "$pid")
  case $variant in
    idle) sleep "$SECONDS_OF_LOAD" ;;
    # It fails at the end of its time by design. Its first second has no load, and its writers first sign a certificate each.
    its-own)
      "${pin[@]}" "$TESSERACT_HAMMER" --origin="$LOG_ORIGIN" --log_public_key="$LOG_KEY_B64" --log_url="$MONITORING_URL/" \
        --write_log_url="$LOG_URL" --max_read_ops=0 --num_readers_random=0 --num_readers_full=0 --num_writers=$((${WRITERS_PER_RATE:-3} * RATE)) \
        --max_write_ops="$RATE" --dup_chance=0 --show_ui=false --max_runtime="${SECONDS_OF_LOAD}s" --serial_offset=$RANDOM \
        --intermediate_ca_cert_path="$ca/test_intermediate_ca_cert.pem" --intermediate_ca_key_path="$ca/test_intermediate_ca_private_key.pem" \
        --cert_sign_private_key_path="$ca/test_leaf_cert_signing_private_key.pem" >"$scratch/hammer.log" 2>&1 || true
      ;;
    *)
      "${pin[@]}" "$HAMMER" run "$scratch/plan.yaml" --quiet --out "$scratch/report.json" >"$scratch/hammer.log" 2>&1 \
        --set "target.log.submission_url=$LOG_URL" --set "target.log.monitoring_url=$MONITORING_URL" \
        --set "target.log.public_key_file=$LOG_KEY_PEM" || die "$(tail -n 5 "$scratch/hammer.log")"
      ;;
  esac
  after=$(used "$pid") size=$(tree_size)
  down
  printf '%s %s %s %s\n' "$variant" "$before" "$after" "$size" >>"$scratch/figures"
}

for ((round = 0; round < ${ROUNDS:-3}; round++)); do
  for variant in "${variants[@]}"; do once "$variant"; done
done
python3 - "$scratch/figures" "$SECONDS_OF_LOAD" <<'PY'
import statistics, sys

runs = {}
for line in open(sys.argv[1]):
    variant, cpu, slept, cpu_after, slept_after, *size = line.split()
    leaves = int(size[0]) if size else 0
    used, sleeps = float(cpu_after) - float(cpu), int(slept_after) - int(slept)
    runs.setdefault(variant, []).append((used, sleeps, leaves))
print(f"{'':16}{'ms a chain':>24}  {'sleeps a chain':>14}  {'leaves':>7}")
for variant, figures in runs.items():
    if not all(leaves for _, _, leaves in figures):
        shares = sorted(used / float(sys.argv[2]) for used, _, _ in figures)
        print(f"{variant:16}{100 * statistics.median(shares):.1f} % of a core ({100 * shares[0]:.1f} to {100 * shares[-1]:.1f})")
        continue
    costs = sorted(1e3 * used / leaves for used, _, leaves in figures)
    sleeps = statistics.median(slept / leaves for _, slept, leaves in figures)
    spread = f"{statistics.median(costs):.3f} ({costs[0]:.3f} to {costs[-1]:.3f})"
    print(f"{variant:16}{spread:>24}  {sleeps:14.1f}  {statistics.median(leaves for *_, leaves in figures):7.0f}")
PY
