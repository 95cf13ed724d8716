"""The clients of the comparison: how each is told to send, in closed and in open loop, and who reads what it prints."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import figures

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass(frozen=True)
class Load:
    """What is asked of a client: so many connections for so long; so many requests a second, or as many as they carry.

    With a `body` (a file) each request is a POST of it; `root` is the PEM file that TLS is verified with; `http2` puts all
    requests on one connection, by prior knowledge; with `close` each has a connection of its own.
    """

    url: str
    connections: int
    seconds: int
    folder: str
    rate: int | None = None
    body: str | None = None
    root: str | None = None
    http2: bool = False
    close: bool = False

    @property
    def out(self):
        """A file that the client may leave its results in."""
        return os.path.join(self.folder, "client.out")


@dataclass(frozen=True)
class Client:
    """A tool. `arguments` and `environment` take the load; `read` makes figures of what it printed and of its file."""

    name: str
    arguments: Callable[[Load], list[str]]
    read: Callable[[str, str], dict]
    closed: bool = True
    # Another client's binary is used in place of its own, where this variable names one.
    variable: str | None = None
    # What it does with a rate that it cannot keep, and where its durations begin; None where it knows no rate.
    behind: str | None = None
    version: list[str] = field(default_factory=lambda: ["--version"])
    environment: Callable[[Load], dict] = lambda load: {}
    # Further runs of it, once the load is over, that print its results: not measured.
    results: list[list[str]] = field(default_factory=list)
    # 5: hammer says that it used up its core, which is what is asked of it here. 1: Locust had a failed request.
    statuses: tuple[int, ...] = (0,)

    @property
    def path(self):
        """Where its binary is; None where it is not installed."""
        wanted = os.environ.get(self.variable or self.name.upper(), "" if self.variable else self.name)
        return shutil.which(wanted) if wanted else None


def hammer(load):
    if load.http2:
        return ["run", plan_of(load), "--out", load.out]
    flags = ["-c", str(load.connections), "-z", f"{load.seconds}s", "--out", load.out]
    flags += ["--rate", str(load.rate)] if load.rate else []
    flags += ["-d", f"@{load.body}", "-H", "Content-Type: application/octet-stream"] if load.body else []
    flags += ["--cacert", load.root] if load.root else []
    flags += ["--disable-keepalive"] if load.close else []
    return ["http", "post" if load.body else "get", load.url, *flags]


def plan_of(load):
    """A plan, since one line cannot say that there is one connection."""
    path = os.path.join(load.folder, "plan.yaml")
    url = urlsplit(load.url)
    connection = {"http": "2-prior-knowledge", "connections": 1}
    plan = {
        "target": {"url": f"{url.scheme}://{url.netloc}", "connection": connection},
        "workloads": [{"name": "get", "http": {"path": url.path}, "load": {"users": load.connections}}],
        "phases": {"measurement": f"{load.seconds}s"},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plan, file)
    return path


def wrk(load):
    """It verifies no certificate."""
    rate = [f"-R{load.rate}", "--latency"] if load.rate else []
    script = ["-s", os.path.join(HERE, "post.lua")] if load.body else []
    close = ["-H", "Connection: close"] if load.close else []
    return ["-t1", f"-c{load.connections}", f"-d{load.seconds}s", *rate, *script, *close, load.url]


def wrk_environment(load):
    return {"BODY": load.body} if load.body else {}


def bare(load):
    return [load.url, str(load.connections), str(load.rate), str(load.seconds)]


def h2load(load):
    return ["-t1", "-c1", f"-m{load.connections}", f"-D{load.seconds}", load.url]


def oha(load):
    rate = ["-q", str(load.rate), "--latency-correction"] if load.rate else []
    flags = ["--no-tui", "--output-format", "json"]
    return [*flags, "-c", str(load.connections), "-z", f"{load.seconds}s", *rate, load.url]


def hey(load):
    rate = ["-q", f"{load.rate / load.connections:g}"] if load.rate else []
    return ["-cpus", "1", "-c", str(load.connections), "-z", f"{load.seconds}s", *rate, load.url]


def vegeta(load):
    users = str(load.connections)
    targets = os.path.join(load.folder, "targets")
    with open(targets, "w", encoding="utf-8") as file:
        file.write(f"GET {load.url}\n")
    flags = ["-workers", users, "-max-workers", users, "-connections", users, "-max-body", "0"]
    rate = ["-rate", str(load.rate or 0), "-duration", f"{load.seconds}s"]
    return ["attack", *flags, *rate, "-targets", targets, "-output", load.out]


def k6(_):
    # Nothing leaves the machine: no report of its use, no build of extensions elsewhere; and no port is taken.
    return ["run", "--quiet", "--no-usage-report", "--address", "", os.path.join(HERE, "k6.js")]


def k6_environment(load):
    rate = {"RATE": str(load.rate)} if load.rate else {}
    bounds = {"SECONDS": str(load.seconds), "VUS": str(load.connections)}
    return {"URL": load.url, "K6_AUTO_EXTENSION_RESOLUTION": "false", **bounds, **rate}


def locust(load):
    users = str(load.connections)
    host = urlsplit(load.url)
    flags = ["--headless", "--json", "--only-summary", "--loglevel", "ERROR", "-u", users, "-r", users]
    return ["-f", os.path.join(HERE, "locustfile.py"), *flags, "-t", f"{load.seconds}s", "-H", f"{host.scheme}://{host.netloc}"]


def locust_environment(load):
    rate = {"THROUGHPUT": str(load.rate / load.connections)} if load.rate else {}
    return {"READ_PATH": urlsplit(load.url).path, **rate}


CLIENTS = [
    Client("wrk", wrk, figures.of_wrk, version=["-v"], environment=wrk_environment),
    Client(
        "hammer", hammer, figures.of_hammer, statuses=(0, 5),
        behind="from the intended start; a backlog, then counted as shed or starved, and in every percentile",
    ),
    Client(
        "before", hammer, figures.of_hammer, statuses=(0, 5), variable="HAMMER_BEFORE",
        behind="as hammer, whose older binary it is",
    ),
    Client(
        "bare", bare, figures.of_bare, closed=False, version=[], variable="BARE",
        behind="no client: it sleeps, sends and reads what has come, and records nothing (crates/hammer-net/examples/bare.rs)",
    ),
    Client("h2load", h2load, figures.of_h2load, closed=False),
    Client(
        "wrk2", wrk, figures.of_wrk, closed=False, version=["-v"],
        behind="from the intended start of each connection's own schedule; what waits is sent late, or not by the end",
    ),
    Client(
        "oha", oha, figures.of_oha,
        behind="from when a connection was due to send (`--latency-correction`); what waits is sent late, or not by the end",
    ),
    Client(
        "hey", hey, figures.of_hey, version=[],
        behind="from the sending: each connection waits for its answer, then for its next tick; it slows down and does not say so",
    ),
    Client(
        "vegeta", vegeta, figures.of_vegeta, version=["-version"],
        behind="from the sending: once all workers wait it sends late, or not by the end, and does not say so",
        results=[["report", "-type=json"], ["report", "-type=hdrplot"]],
    ),
    Client(
        "k6", k6, figures.of_k6, version=["version"], environment=k6_environment,
        behind="from the sending; without a free user an iteration is dropped, counted, and in no percentile",
    ),
    Client(
        "locust", locust, figures.of_locust, environment=locust_environment, statuses=(0, 1),
        behind="from the sending, in whole milliseconds: users wait for their answers; it slows down and does not say so",
    ),
]
