#!/usr/bin/env bash
# What a page prints, with loads that are shorter, and on a machine that others use as well: that a threshold fails there, or that figures cannot be
# believed, is told, and is no defect of the page, unless it says so itself (`ends_with` of prelude.sh).
set -euo pipefail
[[ -z ${HAMMER_FULL-} ]] || exec "$HAMMER" "$@" --tolerate-lag
arguments=()
previous=
for argument; do
  case $previous in
    -z | --for | --duration) argument=1s ;;
    --flows | --rounds) ((argument <= 3)) || argument=3 ;;
  esac
  arguments+=("$argument")
  previous=$argument
done
case "${1-} ${2-}" in
  *" --help" | *" -h") exec "$HAMMER" "${arguments[@]}" ;;
  "run "*) [[ " $* " == *" --smoke "* ]] || arguments+=(--smoke) ;;
  "http "* | "ct submit" | "ct read" | "sigstore sign" | "sigstore fill" | "sigstore verify" | "sigstore mixed" | "sigstore tsa" | \
    "attest provision" | "attest verify" | "attest well-known" | "pki auth" | "pki cades" | "pki pades" | "pki validate" | "pki timestamp") ;;
  *) exec "$HAMMER" "${arguments[@]}" ;;
esac
[[ " $* " != *" --print-plan "* ]] || exec "$HAMMER" "${arguments[@]}"
told=$(mktemp -d)
trap 'rm -rf "$told"' EXIT
code=0
[[ " $* " == *" --tolerate-lag "* ]] || arguments+=(--tolerate-lag)
"$HAMMER" "${arguments[@]}" >"$told/out" 2>"$told/err" || code=$?
cat "$told/err" >&2
cat "$told/out"
((code != 5)) || [[ -n ${EXPECTED_CODE-} ]] || code=0
if ((code == 1)) && [[ -z ${EXPECTED_CODE-} ]] && grep -qE 'thresholds? failed' "$told"/{out,err} && ! grep -qE '\b0 of [0-9,]+ accepted' "$told"/{out,err}; then
  code=0
fi
exit "$code"
