#!/usr/bin/env bash
# `cargo run` of hammer is the hammer that is under test.
set -euo pipefail
[[ ${1-} == run ]] || { printf 'cargo %s is not for a test\n' "${1-}" >&2; exit 1; }
while [[ $1 != -- ]]; do shift; done
exec hammer "${@:2}"
