#!/usr/bin/env bash
# Instructions that one element of schedule, record and encode takes, by callgrind, against those that are pinned in
# benches/counts.txt: exits 1 when one takes more than TOLERANCE (15) percent above; where the compiler inlines moves them by a
# tenth. A body is run over n elements and over half as many, so that its set-up falls out.
#   scripts/counts.sh           compares
#   scripts/counts.sh --pin     pins what is found, and prints what changed
# COUNTS names another binary than the one that it builds, with CARGO_INCREMENTAL=0: incremental code takes fewer by a tenth.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need valgrind cargo rustc
export CARGO_INCREMENTAL=0
COUNTS=$(built counts hammer-benches "${COUNTS:-}")
pinned=$here/../benches/counts.txt

# collected NAME ELEMENTS: instructions of the whole process. glibc and the crates choose by what valgrind says of the CPU.
collected() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$COUNTS" "$1" "$2" 2>&1 |
    awk '/Collected :/ { print $4; found = 1 } END { exit !found }'
}

# found: name and instructions of an element, a line each.
found() {
  local name elements whole half
  while read -r name elements; do
    whole=$(collected "$name" "$elements") || return 1
    half=$(collected "$name" $((elements / 2))) || return 1
    awk -v name="$name" -v n="$((whole - half))" -v d="$((elements - elements / 2))" 'BEGIN { printf "%s %.1f\n", name, n / d }'
  done < <("$COUNTS")
}

# compare FILE: each line of standard input against the pinned one.
compare() {
  awk -v tolerance="${TOLERANCE:-15}" '
    NR == FNR { if ($1 != "#") pin[$1] = $2; next }
    !($1 in pin) { printf "%-28s %10.1f  not pinned\n", $1, $2; failed = 1; next }
    {
      change = 100 * ($2 / pin[$1] - 1)
      word = change > tolerance ? "MORE" : change < -tolerance ? "less: pin it" : "as pinned"
      printf "%-28s %10.1f  pinned %10.1f  %+6.1f %%  %s\n", $1, $2, pin[$1], change, word
      if (change > tolerance) failed = 1
      delete pin[$1]
    }
    END { for (name in pin) { printf "%-28s pinned, but no longer counted\n", name; failed = 1 }; exit failed }
  ' "$1" -
}

case ${1:-} in
  '')
    found | compare "$pinned" || die "counts differ from $(head -n 1 "$pinned"); this is $(rustc --version). scripts/counts.sh --pin pins what is meant"
    ;;
  --pin)
    now=$(found)
    [[ ! -e $pinned ]] || compare "$pinned" <<<"$now" || true
    printf '# instructions an element, %s, %s\n%s\n' "$(rustc --version)" "$(valgrind --version)" "$now" >"$pinned"
    ;;
  *) die "usage: scripts/counts.sh [--pin]" 2 ;;
esac
