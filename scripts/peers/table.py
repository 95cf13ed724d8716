"""The figures of all rounds as Markdown: medians, and where the spread matters, from the least to the most."""

import math
import statistics


def of(result, clients):
    rounds = f"{result['rounds']} rounds of {result['seconds']} s in turn, {result['connections']} connections, 128-byte body"
    lines = [f"{rounds}; medians of the rounds, of max the largest.", ""]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines += [f"Versions: {versions}.", ""]
    if result["not_installed"]:
        lines += [f"Not installed: {', '.join(result['not_installed'])}.", ""]
    lines += closed(result["closed"])
    for rate, rows_by_name in result["open"].items():
        lines += open_loop(rate, rows_by_name, rate * result["seconds"])
    lines += [f"- {client.name}: {client.behind}" for client in clients if client.behind]
    return "\n".join(lines) + "\n"


def closed(rows_by_name):
    wrk = median(rows_by_name.get("wrk"), "cpu_us")
    lines = [
        "| closed loop | requests/s | CPU of a request (least to most) | to wrk | largest memory |",
        "|---|---|---|---|---|",
    ]
    for name, rows in rows_by_name.items():
        cpu = median(rows, "cpu_us")
        used = [row["cpu_us"] for row in rows if "cpu_us" in row]
        spread = f"{cpu:.1f} us ({min(used):.1f} to {max(used):.1f})" if used else "-"
        to_wrk = f" {cpu / wrk:.2f}" if wrk and cpu else ""
        lines.append(f"| {name} | {number(rows, 'rate', ',.0f')} | {spread} |{to_wrk} | {number(rows, 'rss_mb', '.0f', ' MB')} |")
    return [*lines, ""]


def open_loop(rate, rows_by_name, offered):
    lines = [
        f"| {rate:,}/s | p50 | p99 | p99.9 | max | not sent | CPU of a request | largest memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in rows_by_name.items():
        durations = [median(rows, column) for column in ("p50_ms", "p99_ms", "p99_9_ms")]
        durations.append(max((row["max_ms"] for row in rows if "max_ms" in row), default=None))
        not_sent = median(rows, "not_sent")
        share = f"{not_sent:,.0f} ({100 * not_sent / offered:.1f} %)" if not_sent else "0"
        cells = [name, *map(duration, durations), share, number(rows, "cpu_us", ".1f", " us"), number(rows, "rss_mb", ".0f", " MB")]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def median(rows, column):
    """None where no round has it."""
    known = [row[column] for row in rows or [] if column in row]
    return statistics.median(known) if known else None


def number(rows, column, form, unit=""):
    value = median(rows, column)
    return "-" if value is None else f"{value:{form}}{unit}"


def duration(milliseconds):
    if milliseconds is None:
        return "-"
    return "never" if math.isinf(milliseconds) else f"{milliseconds:.2f} ms"
