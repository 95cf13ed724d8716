"""Runs the clients of scripts/peers.sh in alternating rounds, and prints two tables: closed loop and open loop.

CPU is user and system time of the client's process (wait4), its start and end included; requests are those that it says
were answered with success. wrk's total includes those that were not, and they are taken off.
"""

import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("ROUNDS", "5"))
DURATION = int(os.environ.get("DURATION", "5"))
CONNECTIONS = int(os.environ.get("CONNECTIONS", "50"))
CLIENT_CORE = os.environ.get("CLIENT_CORE", "1")
RATE = int(os.environ.get("RATE", "20000"))


def main(url, folder):
    out = os.path.join(folder, "client.json")
    seconds, users, rate = f"{DURATION}s", str(CONNECTIONS), str(RATE)
    hammer = ["http", "get", url, "-c", users, "-z", seconds, "--out", out]
    oha = ["--no-tui", "--output-format", "json", "-c", users, "-z", seconds]
    closed = [
        ("wrk", "wrk", ["-t1", f"-c{users}", f"-d{seconds}", url], read_wrk),
        ("hammer", "hammer", hammer, read_hammer),
        ("oha", "oha", [*oha, url], read_oha),
        ("hey", "hey", ["-cpus", "1", "-c", users, "-z", seconds, url], read_hey),
    ]
    opened = [
        ("hammer", "hammer", [*hammer, "--rate", rate], read_hammer),
        ("wrk2", "wrk2", ["-t1", f"-c{users}", f"-d{seconds}", f"-R{rate}", "--latency", url], read_wrk),
        ("oha", "oha", [*oha, "-q", rate, "--latency-correction", url], read_oha),
    ]
    print(f"{ROUNDS} rounds of {DURATION} s, {CONNECTIONS} connections, 128-byte body; medians of the rounds (CPU: min to max)")
    results = run_rounds(present(closed), out)
    print(f"\nclosed loop\n{'client':8} {'CPU us/request':>15} {'(range)':>15} {'to wrk':>7} {'requests/s':>11} {'max RSS MB':>11}")
    wrk = median(results.get("wrk"), "cpu_us")
    for name, rows in results.items():
        cpu = median(rows, "cpu_us")
        low, high = min(row["cpu_us"] for row in rows), max(row["cpu_us"] for row in rows)
        ratio = f"{cpu / wrk:.2f}" if wrk else "-"
        print(
            f"{name:8} {cpu:15.2f} {f'{low:.2f}-{high:.2f}':>15} {ratio:>7}"
            f" {median(rows, 'rate'):11.0f} {median(rows, 'rss_mb'):11.1f}"
        )
    results = run_rounds(present(opened), out)
    print(f"\nopen loop, {RATE}/s asked; from the intended start\n{'client':8} {'p50 ms':>8} {'p99 ms':>8} {'requests/s':>11} {'CPU us/request':>15}")
    for name, rows in results.items():
        print(
            f"{name:8} {median(rows, 'p50_ms'):8.2f} {median(rows, 'p99_ms'):8.2f}"
            f" {median(rows, 'rate'):11.0f} {median(rows, 'cpu_us'):15.2f}"
        )


def present(clients):
    """The clients that are installed, with the path of each; a line for each of the others."""
    found = []
    for name, command, arguments, read in clients:
        path = shutil.which(os.environ.get(command.upper(), command))
        if path:
            found.append((name, ["taskset", "-c", CLIENT_CORE, path, *arguments], read))
        else:
            print(f"{name}: skipped, not installed")
    return found


def run_rounds(clients, out):
    """One run of each client after the other, ROUNDS times: rows by name, in the order of the clients."""
    results = {name: [] for name, _, _ in clients}
    for _ in range(ROUNDS):
        for name, command, read in clients:
            results[name].append(measured(name, command, read, out))
    return results


def measured(name, command, read, out):
    """One run: what the client printed or wrote, and what the kernel says that it cost."""
    if os.path.exists(out):
        os.remove(out)
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT)
        rss_kb = 0
        # ru_maxrss is no use: a child inherits the peak of the process that started it.
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            rss_kb = max(rss_kb, peak_rss_kb(process.pid))
            time.sleep(0.05)
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        printed.seek(0)
        text = printed.read()
    # 5: hammer says that it used up its core, which is what is asked of it here.
    if process.returncode not in ((0, 5) if name == "hammer" else (0,)):
        sys.exit(f"{name} ended with {process.returncode}:\n{text}")
    row = read(text, out)
    row["cpu_us"] = (ended[2].ru_utime + ended[2].ru_stime) * 1e6 / row["requests"]
    row["rss_mb"] = rss_kb * 1024 / 1e6
    row.setdefault("rate", row["requests"] / DURATION)
    return row


def peak_rss_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        found = re.search(r"^VmHWM:\s*(\d+) kB", status.read(), re.MULTILINE)
    return int(found.group(1)) if found else 0


def median(rows, column):
    return statistics.median(row[column] for row in rows) if rows else None


def read_wrk(text, _):
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    errors = int(refused.group(1)) if refused else 0
    row = {"requests": requests - errors, "rate": float(re.search(r"Requests/sec:\s*([\d.]+)", text).group(1))}
    for share, column in (("50", "p50_ms"), ("99", "p99_ms")):
        found = re.search(rf"^\s*{share}\.?0*%\s+([\d.]+)(us|ms|s|m)\s*$", text, re.MULTILINE)
        if found:
            row[column] = float(found.group(1)) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[found.group(2)]
    return row


def read_oha(text, _):
    report = json.loads(text[text.index("{"):])
    return {
        "requests": report["statusCodeDistribution"]["200"],
        "rate": report["summary"]["requestsPerSec"],
        "p50_ms": report["latencyPercentiles"]["p50"] * 1e3,
        "p99_ms": report["latencyPercentiles"]["p99"] * 1e3,
    }


def read_hey(text, _):
    return {
        "requests": int(re.search(r"\[200\]\s+(\d+) responses", text).group(1)),
        "rate": float(re.search(r"Requests/sec:\s*([\d.]+)", text).group(1)),
    }


def read_hammer(_, out):
    with open(out, encoding="utf-8") as file:
        report = json.load(file)
    response = report["series"][0]["measurement"]["durations"]["response_time"]
    return {
        "requests": report["totals"]["all"]["fates"]["accepted"],
        "p50_ms": milliseconds(response["p50_ns"]),
        "p99_ms": milliseconds(response["p99_ns"]),
    }


def milliseconds(figure):
    """A figure of hammer's report: nanoseconds, or an object when it lies beyond what was ever answered."""
    return figure / 1e6 if isinstance(figure, int) else math.inf


if __name__ == "__main__":
    main(*sys.argv[1:])
