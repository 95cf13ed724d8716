#!/usr/bin/env bash
# What hammer accepts of signed files, others accept as well, and what it does not they refuse: hammer signs by CAdES and PAdES, with and without
# timestamps, by RSA and P-256, on the embedded signature service, on EU DSS and on pyHanko behind Rest PKI's API. What stands between alters one
# bit in every third file: of its document, or of its signature. OpenSSL, pyHanko and DSS then say of each file what hammer did.
#   scripts/signature-matrix.sh
#   FILES=36                      from each service
#   DSS_RUN, RESTPKI_RUN          run folders of services that are there, of one PKI; without them both are started, and ended
#   HAMMER names the binary
# Exits 1 where somebody says otherwise.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

need openssl curl python3 java
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
python=${HAMMER_PYHANKO:-${HAMMER_TARGETS_BIN%/bin}/pyhanko}/bin/python
run_folder up
own=() proxies=()
ended() {
  local name
  for name in "${own[@]}"; do RUN=$RUN/$name "$here/targets/$name.sh" down >&2; done
  stop_all lab "${proxies[@]}" >&2
}
trap ended EXIT

# variable RUN_FOLDER NAME: what a target wrote to its env.
variable() { sed -n "s/^$2=//p" "$1/env"; }

if [[ -z ${DSS_RUN:-} ]]; then
  DSS_RUN=$RUN/dss
  RUN=$DSS_RUN "$here/targets/dss.sh" up >/dev/null
  own+=(dss)
fi
pki=$(variable "$DSS_RUN" PKI) dss_url=$(variable "$DSS_RUN" DSS_URL)
if [[ -z ${RESTPKI_RUN:-} ]]; then
  RESTPKI_RUN=$RUN/restpki-compatible
  RUN=$RESTPKI_RUN TEST_PKI=$pki "$here/targets/restpki-compatible.sh" up >/dev/null
  own+=(restpki-compatible)
fi
start lab "$HAMMER" lab pki --out "$RUN/lab"
wait_for lab 60 grep -q '^{.*url' "$RUN/log/lab.log"
lab_url=$(sed -n 's/^{.*"url":"\([^"]*\)".*/\1/p' "$RUN/log/lab.log")

# signed NAME URL PATH OPTION...: files of the service at that URL, of which some are altered on the way.
held=()
signed() {
  local name=$1 url=$2 path=$3 port status=0 report=$RUN/$1.json
  shift 3
  mkdir -p "$RUN/files-$name"
  read -r port < <(free_ports 1)
  start "proxy-$name" python3 "$here/signatures/altered_answers.py" "$url" "$port" "$RUN/files-$name"
  proxies+=("proxy-$name")
  wait_for "proxy-$name" 60 grep -qx ready "$RUN/log/proxy-$name.log"
  python3 - "$name" "http://127.0.0.1:$port$path" "$pki" "${FILES:-36}" "$@" >"$RUN/$name.plan.json" <<'PY'
import json, sys

name, url, pki, files, *options = sys.argv[1:]
roots, token = options[0], options[1:]
target = {"url": url, "dialect": "dss" if name == "dss" else "rest-pki", "timestamp_roots_pem_files": [roots]}
if token:
    target["token"] = {"file": token[0]}
target["signers"] = [{"key_file": f"{pki}/{of}.key", "certificate_file": f"{pki}/{of}.chain.pem"} for of in ("signer", "signer-p256")]
signs = {"mix": {kind: 1 for kind in ("cades", "cades-t", "pades", "pades-t")}, "size": "4KiB"}
# One after another, so that files come in the order of their numbers.
workload = {"name": "sign", "pki_sign": signs, "load": {"users": 1, "operations": int(files)}, "timeout": "300s"}
print(json.dumps({"seed": 1, "target": {"pki": target}, "workloads": [workload], "phases": {"drain": "300s"}}))
PY
  (cd "$RUN" && "$HAMMER" run "$name.plan.json" --quiet --out "$report" >"$RUN/log/hammer-$name.log" 2>&1) || status=$?
  # Promises were broken, as they should be; beside that, times of busy cores may not be believed.
  [[ -s $report && $status == 4 ]] || die "$name: hammer ended with $status: $(tail -n 5 "$RUN/log/hammer-$name.log")"
  held+=("$name" "$RUN/files-$name" "$report")
}

signed lab "$lab_url" "" "$RUN/lab/timestamp-roots.pem" "$RUN/lab/token"
signed dss "${dss_url%/services/rest}" /services/rest "$pki/timestamp-roots.pem"
signed pyhanko "$(variable "$RESTPKI_RUN" RESTPKI_URL)" "" "$pki/timestamp-roots.pem" "$(variable "$RESTPKI_RUN" RESTPKI_TOKEN_FILE)"
"$python" "$here/signatures/verdicts.py" "$pki" "$RUN/lab/timestamp-roots.pem" "$dss_url" "${held[@]}"
