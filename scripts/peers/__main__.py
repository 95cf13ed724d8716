"""Runs the clients of scripts/peers.sh in alternating rounds, and prints Markdown: each scenario as it ends, then all in short."""

import argparse
import functools
import json
import math
import os
import re
import resource
import subprocess
import sys

import table
from clients import CLIENTS, Load
from measure import Bench, measured
from rounds import by_name, turns, undisturbed
from scenarios import MANY, MEMORY_ROUNDS, MEMORY_SECONDS, NAMES, SCENARIOS, Target

ROUNDS = int(os.environ.get("ROUNDS", "5"))
DURATION = int(os.environ.get("DURATION", "5"))
CONNECTIONS = int(os.environ.get("CONNECTIONS", "50"))
RATES = [int(rate) for rate in os.environ.get("RATES", "1000 5000 20000").split()]
WANTED = os.environ.get("SCENARIOS", " ".join(NAMES)).split()
ONLY = os.environ.get("CLIENTS", "").split()
OTHERS_MAX = float(os.environ.get("OTHERS_MAX", "3"))
REPEATS = int(os.environ.get("REPEATS", "10"))
# Descriptors of a process beside its connections.
DESCRIPTORS = 200


def main():
    args = arguments()
    bench = Bench(args.server_pid, int(os.environ["CLIENT_CORE"]))
    # What it takes to watch is taken from nginx, not from the client.
    os.sched_setaffinity(0, {int(os.environ["SERVER_CORE"])})
    clients = installed()
    result = {
        "rounds": ROUNDS, "seconds": DURATION, "connections": CONNECTIONS, "others_max_percent": OTHERS_MAX,
        "versions": {client.name: version(client) for client in clients},
        "not_installed": [client.name for client in CLIENTS if not client.path and not client.variable],
        "closed": {}, "memory": {}, "open": {},
    }
    show(table.head(result))
    target = Target(args.plain, args.tls, args.http2, args.root, args.folder)
    for text in carried_out(functools.partial(measured, bench), clients, target, result):
        show(text)
        if args.json:
            with open(args.json, "w", encoding="utf-8") as file:
                json.dump(plain(result), file, indent=1, allow_nan=False)
    show(table.in_short(result))
    show([f"- {client.name}: {client.behind}" for client in clients if client.behind and result["open"]])


def arguments():
    parser = argparse.ArgumentParser(prog="peers.sh", description="hammer beside other clients")
    parser.add_argument("--json", metavar="FILE", help="write every round's figures there as well")
    parser.add_argument("--server-pid", type=int)
    for place in ("plain", "tls", "http2", "root", "folder"):
        parser.add_argument(place)
    if unknown := set(WANTED) - set(NAMES):
        parser.error(f"SCENARIOS knows {' '.join(NAMES)}, and not {' '.join(sorted(unknown))}")
    return parser.parse_args()


def installed():
    return [client for client in CLIENTS if client.path and (not ONLY or client.name in ONLY)]


def show(lines):
    print("\n".join(lines), end="\n" if lines else "", flush=True)


def carried_out(run, clients, target, result):
    """Carries out what is wanted, one scenario after the other; puts each into the result, and yields its table."""
    for scenario in SCENARIOS:
        if scenario.name in WANTED:
            yield closed(run, clients, scenario, target, result)
    if "memory" in WANTED:
        yield memory(run, clients, target, result)
    if "open" in WANTED:
        for rate in RATES:
            yield open_loop(run, clients, rate, target, result)


def closed(run, clients, scenario, target, result):
    wanted = scenario.reference, "hammer", "before"
    taking_part = [one for one in clients if (one.closed if scenario.everyone else one.name in wanted)]
    if not scenario.everyone and scenario.reference not in (one.name for one in taking_part):
        return [f"{scenario.name}: left out, since {scenario.reference} is not there", ""]
    load = scenario.load(target, CONNECTIONS, DURATION)
    figures = rounds_of(lambda client: run(client, load), taking_part)
    figures |= {"says": scenario.says, "reference": scenario.reference, "connections": load.connections, "seconds": load.seconds}
    result["closed"][scenario.name] = figures
    return table.closed(scenario.name, figures)


def memory(run, clients, target, result):
    """What a connection takes: the peak with many less the peak with one, over the connections between."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit < MANY + DESCRIPTORS:
        return [f"memory: left out, since a process may have {limit} descriptors alone", ""]
    seconds = max(DURATION, MEMORY_SECONDS)
    few, many = (Load(f"{target.plain}/128", connections, seconds, target.folder) for connections in (1, MANY))

    def both(client):
        row, alone = run(client, many), run(client, few)
        return {**row, "connection_kb": 1e3 * (row["rss_mb"] - alone["rss_mb"]) / (MANY - 1)}

    taking_part = [one for one in clients if one.name in ("wrk", "hammer", "before")]
    # Others make a run slower, and no connection larger.
    result["memory"] = rounds_of(both, taking_part, min(ROUNDS, MEMORY_ROUNDS), math.inf) | {"connections": MANY}
    return table.memory(result["memory"])


def open_loop(run, clients, rate, target, result):
    load = Load(f"{target.plain}/128", CONNECTIONS, DURATION, target.folder, rate)
    figures = rounds_of(lambda client: run(client, load), [client for client in clients if client.behind])
    result["open"][rate] = figures | {"reference": "oha", "seconds": DURATION}
    return table.open_loop(rate, result["open"][rate])


def rounds_of(run, clients, count=ROUNDS, most=OTHERS_MAX):
    """Rows by the client's name, and of each round how often it was repeated, what others took, and whether that is too much."""
    rounds = [undisturbed(turns(clients, number), run, most, REPEATS) for number in range(count)]
    told = [{key: one[key] for key in ("repeated", "others", "disturbed")} for one in rounds]
    return {"rows": by_name(rounds, clients), "rounds": told, "others_max_percent": most}


def plain(value):
    """What JSON has no infinity for becomes a word."""
    match value:
        case dict():
            return {key: plain(one) for key, one in value.items()}
        case list():
            return [plain(one) for one in value]
        case float() if math.isinf(value):
            return "never"
    return value


def version(client):
    """The first line that says so; its number alone where there is one."""
    if not client.version:
        return "?"
    ended = subprocess.run([client.path, *client.version], capture_output=True, text=True, check=False, timeout=60)
    words = (ended.stdout + ended.stderr).split()
    # What Go it was made with is not its version.
    numbers = [word.strip(",:").rpartition("/")[2] for word in words if re.search(r"\d\.\d", word) and not word.startswith("go1")]
    return numbers[0] if numbers else "?"


if __name__ == "__main__":
    sys.exit(main())
