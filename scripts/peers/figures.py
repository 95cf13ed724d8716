"""What each client says of its load, in the same terms.

Every reader takes what the client printed and the file that it left, and gives `sent` and `answered` (with success),
`seconds` by its own account, where it knows them `p50_ms`, `p99_ms`, `p99_9_ms` and `max_ms`, `dropped` where it counts
what it did not send, and `lag_p99_ms` where it tells how late it sent. A percentile that lies among what was never answered
is infinite.
"""

import json
import math
import re

COLUMNS = ("p50_ms", "p99_ms", "p99_9_ms", "max_ms")
WRK_UNITS = {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4, "h": 3.6e6}


def of_wrk(text, _):
    """wrk, and wrk2 with its spectrum of percentiles. A request that failed is in the total, one without answer is not."""
    total, seconds, unit = re.search(r"(\d+) requests in ([\d.]+)(us|ms|s|m|h),", text).groups()
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    figures = {
        "sent": int(total) + (sum(map(int, broken.groups()[1:])) if broken else 0),
        "answered": int(total) - (int(refused.group(1)) if refused else 0),
        "seconds": float(seconds) * WRK_UNITS[unit] / 1e3,
    }
    for share, column in zip(("50.000", "99.000", "99.900", "100.000"), COLUMNS):
        found = re.search(rf"^\s*{re.escape(share)}%\s+([\d.]+)(us|ms|s|m|h)\s*$", text, re.MULTILINE)
        if found:
            figures[column] = float(found.group(1)) * WRK_UNITS[found.group(2)]
    return figures


def of_h2load(text, _):
    """h2load with a duration: what it started and did not wait for at the end was sent all the same."""
    seconds, unit = re.search(r"finished in ([\d.]+)(us|ms|s|m|h),", text).groups()
    return {
        "sent": int(re.search(r"(\d+) started", text).group(1)),
        "answered": int(re.search(r"status codes: (\d+) 2xx", text).group(1)),
        "seconds": float(seconds) * WRK_UNITS[unit] / 1e3,
    }


def of_oha(text, _):
    report = json.loads(text)
    statuses, percentiles = report["statusCodeDistribution"], report["latencyPercentiles"]
    return {
        "sent": sum(statuses.values()) + sum(report["errorDistribution"].values()),
        "answered": statuses.get("200", 0),
        "seconds": report["summary"]["total"],
        "p50_ms": percentiles["p50"] * 1e3,
        "p99_ms": percentiles["p99"] * 1e3,
        "p99_9_ms": percentiles["p99.9"] * 1e3,
        "max_ms": report["summary"]["slowest"] * 1e3,
    }


def of_hey(text, _):
    """hey knows no percentile above the 99th."""
    statuses = {int(status): int(count) for status, count in re.findall(r"\[(\d{3})\]\s+(\d+) responses", text)}
    errors = text.partition("Error distribution:")[2]
    figures = {
        "sent": sum(statuses.values()) + sum(map(int, re.findall(r"^\s*\[(\d+)\]", errors, re.MULTILINE))),
        "answered": statuses.get(200, 0),
        "seconds": float(re.search(r"Total:\s*([\d.]+) secs", text).group(1)),
        "max_ms": float(re.search(r"Slowest:\s*([\d.]+) secs", text).group(1)) * 1e3,
    }
    for share, column in ((50, "p50_ms"), (99, "p99_ms")):
        found = re.search(rf"^\s*{share}%+ in ([\d.]+) secs", text, re.MULTILINE)
        if found:
            figures[column] = float(found.group(1)) * 1e3
    return figures


def of_vegeta(text, _):
    """Its JSON report, and behind it the HDR plot, which alone has the percentile above the 99th."""
    report, end = json.JSONDecoder().raw_decode(text)
    latencies = report["latencies"]
    plot = re.findall(r"^([\d.]+)\s+([\d.]+)\s+\d+\s+[\d.]+\s*$", text[end:], re.MULTILINE)
    return {
        "sent": report["requests"],
        "answered": report["status_codes"].get("200", 0),
        "seconds": (report["duration"] + report["wait"]) / 1e9,
        "p50_ms": latencies["50th"] / 1e6,
        "p99_ms": latencies["99th"] / 1e6,
        "p99_9_ms": next(float(value) for value, share in plot if float(share) >= 0.999),
        "max_ms": latencies["max"] / 1e6,
    }


def of_k6(text, _):
    """What handleSummary in k6.js prints."""
    report = json.loads(text[text.index('{"state"'):])
    metrics = report["metrics"]
    sent, durations = metrics["http_reqs"]["count"], metrics["http_req_duration"]
    return {
        "sent": sent,
        # A rate metric: its passes are the requests of which it is true that they failed.
        "answered": sent - metrics["http_req_failed"]["passes"],
        "seconds": report["state"]["testRunDurationMs"] / 1e3,
        "p50_ms": durations["med"],
        "p99_ms": durations["p(99)"],
        "p99_9_ms": durations["p(99.9)"],
        "max_ms": durations["max"],
        "dropped": metrics.get("dropped_iterations", {"count": 0})["count"],
    }


def of_locust(text, _):
    """A count for each duration, which Locust rounds to milliseconds, and beyond 100 to two digits."""
    entries = json.loads(text[text.index("["):])
    # Before its users were ready there is nothing to say.
    if not entries:
        return {"sent": 0, "answered": 0, "seconds": 0}
    (entry,) = entries
    counts = sorted((float(duration), count) for duration, count in entry["response_times"].items())
    return {
        "sent": entry["num_requests"],
        "answered": entry["num_requests"] - entry["num_failures"],
        "seconds": entry["last_request_timestamp"] - entry["start_time"],
        "p50_ms": at_share(counts, 0.5),
        "p99_ms": at_share(counts, 0.99),
        "p99_9_ms": at_share(counts, 0.999),
        "max_ms": entry["max_response_time"],
    }


def at_share(counts, share):
    """The value that so much of all lies at or below; `counts` are (value, count) in ascending order."""
    left = math.ceil(share * sum(count for _, count in counts))
    for value, count in counts:
        left -= count
        if left <= 0:
            return value
    return None


def of_hammer(_, out):
    report = json.loads(out)
    series = report["series"][0]["measurement"]
    response, fates = series["durations"]["response_time"], series["fates"]
    lag = series["durations"]["dispatch_lag"]
    return {
        "sent": series["dispatched"],
        "answered": fates["accepted"],
        "seconds": report["run"]["measured_seconds"],
        **{column: milliseconds(response[column.replace("_ms", "_ns")]) for column in COLUMNS},
        "lag_p99_ms": milliseconds(lag["p99_ns"]),
        "dropped": fates["shed"] + fates["starved"],
    }


def of_bare(text, _):
    return json.loads(text)


def milliseconds(figure):
    """A figure of hammer's report: nanoseconds, or an object where it lies beyond what was ever answered."""
    return figure / 1e6 if isinstance(figure, int) else math.inf
