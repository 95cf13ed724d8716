#!/usr/bin/env bash
# What pages of reports look like: made of every quickstart, of a run whose log lies and of some whose servers fail, of a window by its interval log, of a sweep and of comparisons, and measured in headless Chromium;
# and the live page of a run, while it lasts and once it has ended.
#   scripts/pages.sh [PAGE.html...]   the pages that are measured; without any they are made, and the live page is driven
#   HAMMER names the binary, CHROMIUM the browser; PICTURES a folder that is kept, for pictures of each page
# Exits 1 where a page is wider than its window, text lies over other text or is hard to read, something is fetched, or the console says anything.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need python3 "${CHROMIUM:-chromium}"
folder=$(mktemp -d "${TMPDIR:-/tmp}/hammer-pages.XXXXXX")
trap 'rm -rf "$folder"' EXIT
pages=("$@")
if ((${#pages[@]} == 0)); then
  HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
  cd "$here/.."
  cat >"$folder/sweep.yaml" <<'YAML'
target: { lab: { http: {} } }
workloads: [ { name: web, http: {}, load: { users: 1 } } ]
phases: { warm_up: 100ms, measurement: 300ms }
rounds: 3
sweep: { workloads.web.load.users: [ 1, 2, 5, 10 ] }
YAML
  for plan in "$folder/sweep.yaml" configs/*-quickstart.yaml configs/lies/bad-sct-signature.yaml configs/faults/*/{above-a-rate,database-killed,hanging}.yaml; do
    page=$folder/$(basename "${plan%.yaml}").html
    # What a run ends with is another's matter: each has a page.
    "$HAMMER" run "$plan" --smoke --quiet --tolerate-lag --out "$folder/report.json" --html "$page" >"$folder/log" 2>&1 || true
    [[ -s $page ]] || die "$plan has no page: $(tail -n 3 "$folder/log")"
    pages+=("$page")
  done
  # A window far into a run, by its interval log.
  "$HAMMER" run configs/http-quickstart.yaml --smoke --quiet --tolerate-lag --set interval=50ms --out "$folder/report.json" --hlog "$folder/run.hlog" >"$folder/log" 2>&1 || true
  "$HAMMER" report "$folder/report.json" --hlog "$folder/run.hlog" --html "$folder/window.html" --from 1.75s --to 2.4s
  pages+=("$folder/window.html")
  runs=crates/hammer-compare/testdata/hey
  "$HAMMER" compare --html "$folder/comparison.html" "$runs"/2x-*.txt -- "$runs"/3x-*.txt >"$folder/log"
  for variant in a b; do
    "$HAMMER" run "$folder/sweep.yaml" --smoke --quiet --tolerate-lag --out "$folder/$variant.json" >"$folder/log" 2>&1 || true
  done
  "$HAMMER" compare --html "$folder/compared-sweeps.html" "$folder/a.json" -- "$folder/b.json" >"$folder/log"
  pages+=("$folder/comparison.html" "$folder/compared-sweeps.html")
fi
mkdir -p "${PICTURES:=$folder/pictures}"
browser=$(command -v "${CHROMIUM:-chromium}")
python3 "$here/pages/measured.py" "$browser" "$PICTURES" "${pages[@]}"
[[ -z ${HAMMER:-} || $# -gt 0 ]] || python3 "$here/pages/live.py" "$browser" "$PICTURES" "$HAMMER" "$folder"
