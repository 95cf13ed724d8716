"""Runs the clients of scripts/peers.sh in alternating rounds, and prints Markdown: closed loop, then each rate.

CPU is user and system time of the client's process and of those that it waited for (wait4), its start and end included,
over the requests that were answered with success. Memory is the largest sum of the peaks of its processes.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import table
from clients import CLIENTS, Load

ROUNDS = int(os.environ.get("ROUNDS", "5"))
DURATION = int(os.environ.get("DURATION", "5"))
CONNECTIONS = int(os.environ.get("CONNECTIONS", "50"))
RATES = [int(rate) for rate in os.environ.get("RATES", "1000 5000 20000").split()]
CLIENT_CORE = os.environ.get("CLIENT_CORE", "1")


def main():
    parser = argparse.ArgumentParser(prog="peers.sh", description="hammer beside other clients")
    parser.add_argument("--json", metavar="FILE", help="write every round's figures there as well")
    parser.add_argument("url")
    parser.add_argument("folder")
    args = parser.parse_args()
    clients = [client for client in CLIENTS if path_of(client)]
    result = {
        "rounds": ROUNDS, "seconds": DURATION, "connections": CONNECTIONS,
        "versions": {client.name: version(client) for client in clients},
        "not_installed": [client.name for client in CLIENTS if client not in clients],
        "closed": {}, "open": {},
    }
    load = Load(args.url, CONNECTIONS, DURATION, args.folder)
    result["closed"] = run_rounds([client for client in clients if client.closed], load)
    for rate in RATES:
        load = Load(args.url, CONNECTIONS, DURATION, args.folder, rate)
        result["open"][rate] = run_rounds([client for client in clients if client.behind], load)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(plain(result), file, indent=1, allow_nan=False)
    print(table.of(result, clients), end="")


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


def path_of(client):
    return shutil.which(os.environ.get(client.variable, client.name))


def version(client):
    """The first line that says so; its number alone where there is one."""
    if not client.version:
        return "?"
    ended = subprocess.run([path_of(client), *client.version], capture_output=True, text=True, check=False, timeout=60)
    words = (ended.stdout + ended.stderr).split()
    # What Go it was made with is not its version.
    numbers = [word.strip(",:") for word in words if re.search(r"\d\.\d", word) and not word.startswith("go1")]
    return numbers[0] if numbers else "?"


def run_rounds(clients, load):
    """One run of each client after the other, ROUNDS times, each round begun by the next: rows by name."""
    results = {client.name: [] for client in clients}
    for number in range(ROUNDS):
        first = number % max(len(clients), 1)
        for client in clients[first:] + clients[:first]:
            results[client.name].append(measured(client, load))
    return results


def measured(client, load):
    """One run: what the client says of it, and what the kernel says that it cost."""
    if os.path.exists(load.out):
        os.remove(load.out)
    command = ["taskset", "-c", CLIENT_CORE, path_of(client), *client.arguments(load)]
    environment = {**os.environ, **client.environment(load)}
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=printed, stderr=complaints, env=environment, cwd=load.folder
        )
        usage, rss_kb = watched(process, time.monotonic() + 3 * load.seconds + 30)
        text, complaint = (rewound(file) for file in (printed, complaints))
    if process.returncode not in client.statuses:
        sys.exit(f"{client.name} ended with {process.returncode}:\n{text}{complaint}")
    for arguments in client.results:
        text += subprocess.run(
            [path_of(client), *arguments, load.out], capture_output=True, text=True, check=True, timeout=60
        ).stdout
    try:
        row = client.read(text, read_if_text(load.out))
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as error:
        sys.exit(f"{client.name} printed what cannot be read ({error!r}):\n{text}{complaint}")
    if row["answered"]:
        row["rate"] = row["answered"] / (row["seconds"] or load.seconds)
        row["cpu_us"] = (usage.ru_utime + usage.ru_stime) * 1e6 / row["answered"]
        row["rss_mb"] = rss_kb * 1024 / 1e6
    elif client.name == "hammer":
        sys.exit(f"hammer got no answer:\n{text}{complaint}")
    if load.rate:
        row["not_sent"] = max(load.rate * load.seconds - row["sent"], 0)
    return row


def watched(process, deadline):
    """Waits for the end of the process: what it used, and the largest memory of it and its children, in kB."""
    rss_kb = 0
    # ru_maxrss is no use: a child inherits the peak of the process that started it.
    while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        rss_kb = max(rss_kb, sum(map(peak_rss_kb, tree(process.pid))))
        if time.monotonic() > deadline:
            process.kill()
        time.sleep(0.05)
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    return ended[2], rss_kb


def tree(pid):
    """The process and all below it."""
    yield pid
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as children:
                for child in children.read().split():
                    yield from tree(int(child))
    except OSError:
        # It ended meanwhile.
        return


def peak_rss_kb(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            return next((int(line.split()[1]) for line in status if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


def rewound(file):
    file.seek(0)
    return file.read()


def read_if_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


if __name__ == "__main__":
    main()
