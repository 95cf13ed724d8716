"""What others took of the cores: CPU of all processes but our own, and what the host gave to other machines (steal).

A process that ends leaves what it used to the one that waits for it, so that the sum over all that run loses nothing: it needs no
watching in between. The busy ticks of /proc/stat would need none either, but they are samples every 4 ms, and miss or hit each
request of an even load alike.
"""

import os
import time
from dataclasses import dataclass

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
# Its children are the threads of the kernel. What they do in these minutes is mostly the network's, so ours.
KTHREADD = 2


@dataclass(frozen=True)
class Moment:
    """Seconds: of the clock, of CPU that others had used, and stolen from each core, by its number."""

    clock: float
    used: float
    stolen: dict[int, float]


def now(ours):
    """The processes `ours` and what they waited for are not others."""
    with open("/proc/stat", encoding="ascii") as stat:
        stolen = stolen_seconds(stat.read())
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return Moment(time.monotonic(), sum(seconds_of(stat_of(pid)) for pid in pids if pid not in (*ours, KTHREADD)), stolen)


def stolen_seconds(stat):
    """By core (proc(5), /proc/stat: the eighth figure of a core)."""
    lines = [line.split() for line in stat.splitlines() if line.startswith("cpu") and not line.startswith("cpu ")]
    return {int(line[0][3:]): int(line[8]) / TICKS_A_SECOND for line in lines}


def stat_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read()
    except OSError:
        # It ended meanwhile.
        return None


def seconds_of(stat):
    """User and system time of a process and of the children that it waited for; none of a thread of the kernel."""
    if stat is None:
        return 0
    # The second field is its name in brackets, which may hold anything.
    fields = stat.rpartition(")")[2].split()
    return 0 if int(fields[1]) == KTHREADD else sum(map(int, fields[11:15])) / TICKS_A_SECOND


def percent(before, after):
    """What others took, all together, in percent of a core, and what was stolen of the core that lost most."""
    elapsed = max(after.clock - before.clock, 1e-9)
    stolen = max((after.stolen[core] - before.stolen[core] for core in before.stolen), default=0)
    return max(0.0, 100 * (after.used - before.used + stolen) / elapsed)
