#!/usr/bin/env bash
# A soak with its memory watched: runs a plan (configs/ct-soak.yaml), samples the resident memory of the whole process, and
# says whether it stayed flat and below a bound, and whether every promise was judged.
#   scripts/soak.sh [OPTION...]     options of `hammer run`, such as --smoke or --set phases.measurement=72h
#   PLAN, MOST_MB=256, EVERY=10 (seconds between samples), HAMMER (the binary), OUT (a folder for what is left behind)
# Flat: the last third's mean is at most 5 % and 4 MB above that of the third before it. The first third is not asked, since
# buffers and the window of kept entries fill in it; nor is a run of less than two minutes (--smoke). Exits 1 when memory is not flat or above the bound, or a promise is
# broken, pending or unchecked; what health says of a busy machine's times is shown and not judged.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
PLAN=${PLAN:-$here/../configs/ct-soak.yaml}
OUT=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/hammer-soak.XXXXXX")}
mkdir -p "$OUT"

[[ " $* " != *" --smoke "* ]] || EVERY=${EVERY:-1}
"$HAMMER" run "$PLAN" --quiet --out "$OUT/report.json" --events "$OUT/events.jsonl" "$@" >"$OUT/text" 2>&1 &
pid=$!
trap 'kill -TERM $pid 2>/dev/null || true' EXIT
: >"$OUT/rss"
while sleep "${EVERY:-10}" && [[ -e /proc/$pid/status ]]; do
  awk -v at="$SECONDS" '/^VmRSS/ { print at, $2 }' "/proc/$pid/status" >>"$OUT/rss" || break
done
code=0
wait "$pid" || code=$?
trap - EXIT
[[ -s $OUT/report.json ]] || die "no report (exit $code): $(tail -n 5 "$OUT/text")"

printf 'exit code %s; samples, report, events and text in %s\n' "$code" "$OUT"
python3 - "$OUT" "${MOST_MB:-256}" <<'PY'
import json, sys
from statistics import mean

out, most = sys.argv[1], float(sys.argv[2])
samples = [int(line.split()[1]) / 1e3 for line in open(f"{out}/rss") if len(line.split()) == 2]
report = json.load(open(f"{out}/report.json"))
promises, total = report["promises"]["all"], report["totals"]["all"]
third = len(samples) // 3
before, last = (mean(part or [0]) for part in (samples[third : 2 * third], samples[2 * third :]))
print(f"{total['offered']} chains in {report['run']['measured_seconds']:.0f} s of measurement; promises {promises}")
print("resident memory, MB:", " ".join(f"{sample:.0f}" for sample in samples[:: max(len(samples) // 30, 1)]))
print(f"second third {before:.1f} MB, last third {last:.1f} MB, most {max(samples, default=0):.1f} MB of {most:.0f} MB")
for reason in report["verdict"]["reasons"]:
    print("verdict:", reason)

faults = [f"{promises[name]} promises {name}" for name in ("broken", "pending", "unchecked") if promises[name]]
if not promises["kept"]:
    faults.append("no promise was kept")
if not samples:
    faults.append("the run was too short for a sample")
if report["run"]["measured_seconds"] >= 120 and last > before * 1.05 and last > before + 4:
    faults.append("resident memory grows")
if max(samples, default=0) > most:
    faults.append("resident memory is above its bound")
print("held" if not faults else "NOT HELD: " + "; ".join(faults))
sys.exit(bool(faults))
PY
