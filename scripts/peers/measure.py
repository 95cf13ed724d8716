"""One run of a client: what it says of its load, and what the kernel says that it cost.

CPU is user and system time of the client's process and of those that it waited for (wait4), its start and end included,
over the requests that were answered with success. Memory is the largest sum of the peaks of its processes.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import others


@dataclass(frozen=True)
class Bench:
    """Where runs take place: the process of nginx, and the core of the clients."""

    server_pid: int
    client_core: int

    def now(self):
        return others.now((os.getpid(), self.server_pid))


def measured(bench, client, load):
    """One run: what the client says of it, what the kernel says that it cost, and what others took of a core meanwhile."""
    if os.path.exists(load.out):
        os.remove(load.out)
    command = ["taskset", "-c", str(bench.client_core), client.path, *client.arguments(load)]
    environment = {**os.environ, **client.environment(load)}
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as complaints:
        before = bench.now()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=printed, stderr=complaints, env=environment, cwd=load.folder
        )
        usage, rss_kb = watched(process, time.monotonic() + 3 * load.seconds + 30)
        taken = others.percent(before, bench.now())
        text, complaint = (rewound(file) for file in (printed, complaints))
    if process.returncode not in client.statuses:
        sys.exit(f"{client.name} ended with {process.returncode}:\n{text}{complaint}")
    for arguments in client.results:
        text += subprocess.run(
            [client.path, *arguments, load.out], capture_output=True, text=True, check=True, timeout=60
        ).stdout
    try:
        row = client.read(text, read_if_text(load.out))
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as error:
        sys.exit(f"{client.name} printed what cannot be read ({error!r}):\n{text}{complaint}")
    row["others"] = taken
    row["rss_mb"] = rss_kb * 1024 / 1e6
    if row["answered"]:
        row["rate"] = row["answered"] / (row["seconds"] or load.seconds)
        row["cpu_us"] = (usage.ru_utime + usage.ru_stime) * 1e6 / row["answered"]
        row["user_us"] = usage.ru_utime * 1e6 / row["answered"]
    elif client.name in ("hammer", "before"):
        sys.exit(f"{client.name} got no answer:\n{text}{complaint}")
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
