#!/usr/bin/env bash
# What a request through a gateway costs hammer and hey: the published rounds, 10,000 requests that 50 users share, in turn against HAProxy that verifies
# tokens (scripts/targets/gateway.sh); CPU, user and system, of either client from its start to its end, and the rate that it had.
#   scripts/cpu-per-request.sh
#   ROUNDS=5 REQUESTS=10000 USERS=50 are the defaults
#   HAMMER names the binary
# Prints a line for each round, and the median ratio with its range. Exits 1 where a request failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

export PATH=$HAMMER_TARGETS_BIN:$PATH
need python3 hey haproxy nginx
HAMMER=$(built hammer hammer-cli "${HAMMER:-}")
export HAMMER

RUN=$(mktemp -d "${TMPDIR:-/tmp}/hammer-target.XXXXXX")
export RUN
: >"$RUN/temporary"
"$here/targets/gateway.sh" up >/dev/null
trap '"$here/targets/gateway.sh" down >&2' EXIT
# shellcheck source=/dev/null
source "$RUN/env"
export GATEWAY_URL RSA_TOKEN_FILE
python3 - <<'PY'
import json, os, re, statistics, subprocess, sys

number = lambda name, default: os.environ.get(name, default)
requests, users, rounds = number("REQUESTS", "10000"), number("USERS", "50"), int(number("ROUNDS", "5"))
url, token_file = os.environ["GATEWAY_URL"] + "/", os.environ["RSA_TOKEN_FILE"]
report = os.path.join(os.environ["RUN"], "report.json")


def measured(command):
    """The CPU seconds of a command, and what it printed."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = child.stdout.read()
    _, _, used = os.wait4(child.pid, 0)
    return used.ru_utime + used.ru_stime, said


def hammer():
    cpu, _ = measured([os.environ["HAMMER"], "http", "get", url, "--bearer-file", token_file, "-n", requests, "-c", users, "--out", report])
    series = json.load(open(report))["series"][0]["measurement"]
    return cpu, series["fates"]["accepted"], series["rates"]["completed_per_s"]


def hey():
    bearer = "Authorization: Bearer " + open(token_file).read().strip()
    cpu, said = measured(["hey", "-n", requests, "-c", users, "-H", bearer, url])
    found = re.search(r"\[200\]\s+(\d+) responses", said)
    return cpu, int(found[1]) if found else 0, float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])


ratios = []
for each in range(1, rounds + 1):
    # By turns the first: what comes later has a warmer machine.
    order = [hammer, hey] if each % 2 else [hey, hammer]
    figures = {client.__name__: client() for client in order}
    if any(accepted != int(requests) for _, accepted, _ in figures.values()):
        sys.exit(f"not every request was accepted: {figures}")
    told = [f"{name} {cpu / int(requests) * 1e6:5.1f} us a request at {rate:6.0f}/s" for name, (cpu, _, rate) in sorted(figures.items())]
    ratios.append(figures["hammer"][0] / figures["hey"][0])
    print(f"round {each}: {', '.join(told)}: hammer {ratios[-1]:.2f} of hey", flush=True)
print(f"hammer {statistics.median(ratios):.2f} of hey ({min(ratios):.2f} to {max(ratios):.2f})")
PY
