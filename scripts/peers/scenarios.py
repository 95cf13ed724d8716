"""What is asked of the clients: each scenario is a load on one location of nginx, and the client that it is held against."""

import os
from dataclasses import dataclass

from clients import Load

# Users of the scenario `thousand`, and connections of `memory` beside the one that its figure starts from.
THOUSAND, MANY = 1_000, 10_000
# A connection a request: the ports of a longer run are still taken while the next one looks for its own.
CLOSE_SECONDS = 3
# Connecting takes the first of them.
MEMORY_SECONDS = 3
MEMORY_ROUNDS = 3


@dataclass(frozen=True)
class Scenario:
    """A closed loop. `at` is the listener (plain, tls, http2); without `connections` there are as many as CONNECTIONS says."""

    name: str
    says: str
    path: str = "/128"
    at: str = "plain"
    reference: str = "wrk"
    connections: int | None = None
    seconds: int | None = None
    body: bool = False
    close: bool = False
    # Whether every installed client takes part, or the reference and hammer alone.
    everyone: bool = False

    def load(self, target, connections, seconds):
        """Its load on the target, for so long at most."""
        return Load(
            getattr(target, self.at) + self.path,
            self.connections or connections,
            min(seconds, self.seconds or seconds),
            target.folder,
            body=os.path.join(target.folder, "body") if self.body else None,
            root=target.root if self.at == "tls" else None,
            http2=self.at == "http2",
            close=self.close,
        )


@dataclass(frozen=True)
class Target:
    """Where nginx listens: plain HTTP, TLS, and HTTP/2 by prior knowledge; the root that its certificate is under; a folder."""

    plain: str
    tls: str
    http2: str
    root: str
    folder: str


SCENARIOS = [
    Scenario("static", "a file of 128 bytes", everyone=True),
    Scenario("return200", "an answer without a body", "/empty"),
    Scenario("post1k", "POST of 1 KB, an answer without a body", "/empty", body=True),
    Scenario("one", "a file of 128 bytes", connections=1),
    Scenario("thousand", "a file of 128 bytes", connections=THOUSAND),
    Scenario("close", "a connection a request, an answer without a body", "/close", close=True, seconds=CLOSE_SECONDS),
    Scenario("tls", "a file of 128 bytes over TLS 1.3", at="tls"),
    Scenario("http2", "a file of 128 bytes over HTTP/2, one connection", at="http2", reference="h2load"),
]
# Beside them: what a connection takes in memory, and rates.
NAMES = [*(scenario.name for scenario in SCENARIOS), "memory", "open"]
