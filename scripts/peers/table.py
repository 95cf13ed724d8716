"""The figures of all rounds as Markdown: medians, and where the spread matters, from the least to the most.

Ratios are taken in each round, between runs of the same minute, before their median is.
"""

import math
import statistics

from rounds import ratios, spread


def head(result):
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines = [f"{result['rounds']} rounds in turn; medians of the rounds (least to most), of max the largest. Versions: {versions}.", ""]
    if result["not_installed"]:
        lines += [f"Not installed: {', '.join(result['not_installed'])}.", ""]
    return lines


def closed(name, figures):
    rows_by_name, reference = figures["rows"], figures["reference"]
    lines = [
        f"{figures['says']}, {many(figures['connections'], reference)}, {figures['seconds']} s a run{told(figures)}",
        "",
        f"| {name} | requests/s | CPU of a request | to {reference} | user CPU of it | to before | largest memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for client, rows in rows_by_name.items():
        cells = [
            client, number(rows, "rate", ",.0f"), spread_text(known(rows, "cpu_us"), ".1f", " us"),
            to(rows, rows_by_name.get(reference), "cpu_us"), number(rows, "user_us", ".1f", " us"),
            to(rows, rows_by_name.get("before"), "user_us") if client == "hammer" else "", number(rows, "rss_mb", ".0f", " MB"),
        ]
        lines.append(line(cells))
    return [*lines, ""]


def many(connections, reference):
    """h2load has one connection, and as many streams."""
    word = "stream" if reference == "h2load" else "connection"
    return f"{connections:,} {word}{'' if connections == 1 else 's'}"


def memory(figures):
    lines = [f"| memory | with {figures['connections']:,} connections | of a connection |", "|---|---|---|"]
    for client, rows in figures["rows"].items():
        lines.append(line([client, number(rows, "rss_mb", ".0f", " MB"), spread_text(known(rows, "connection_kb"), ".1f", " kB")]))
    return [*lines, ""]


def open_loop(rate, figures):
    rows_by_name, offered = figures["rows"], rate * figures["seconds"]
    lines = [
        f"{rate:,}/s, {figures['seconds']} s a run{told(figures)}",
        "",
        f"| {rate:,}/s | p50 | p99 | p99.9 | max | not sent | CPU of a request | to {figures['reference']} | largest memory |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in rows_by_name.items():
        durations = [median(rows, column) for column in ("p50_ms", "p99_ms", "p99_9_ms")]
        durations.append(max(known(rows, "max_ms"), default=None))
        not_sent = median(rows, "not_sent")
        share = f"{not_sent:,.0f} ({100 * not_sent / offered:.1f} %)" if not_sent else "0"
        cells = [
            name, *map(duration, durations), share, number(rows, "cpu_us", ".1f", " us"),
            to(rows, rows_by_name.get(figures["reference"]), "cpu_us"), number(rows, "rss_mb", ".0f", " MB"),
        ]
        lines.append(line(cells))
    return [*lines, "", *beside_before(rows_by_name), *lateness(rows_by_name)]


def beside_before(rows_by_name):
    """hammer against its older binary in the same rounds."""
    hammer, before = rows_by_name.get("hammer"), rows_by_name.get("before")
    if not hammer or not before:
        return []
    columns = {"p50": "p50_ms", "p99": "p99_ms", "CPU": "cpu_us"}
    words = [f"{word} {to(hammer, before, column) or '-'}" for word, column in columns.items()]
    return [f"hammer to before, by round: {', '.join(words)}", ""]


def lateness(rows_by_name):
    """How late hammer sent, round by round, and what it did not send."""
    late = {name: rows_by_name[name] for name in ("hammer", "before") if known(rows_by_name.get(name), "lag_p99_ms")}
    return [line for name, rows in late.items() for line in (
        f"{name}: dispatch lag p99 {spread_text(known(rows, 'lag_p99_ms'), '.3f', ' ms')} (under 1 ms in "
        f"{sum(value < 1 for value in known(rows, 'lag_p99_ms'))} of {len(rows)}), shed or starved {sum(known(rows, 'dropped'))}", "",
    )]


def in_short(result):
    """A row for each scenario: hammer's ratios by round.

    The kernel tells user from system time by samples at ticks, whose phase an even load has as well: of a rate there is none.
    """
    rows = [in_short_of(name, figures, user=True) for name, figures in result["closed"].items()]
    rows += [in_short_of(f"{rate:,}/s", figures, user=False) for rate, figures in result["open"].items()]
    head_of_table = ["| by round | CPU | to before | user CPU | of before | to before |", "|---|---|---|---|---|---|"]
    return [*head_of_table, *rows, ""] if rows else []


def in_short_of(name, figures, user):
    hammer, before = figures["rows"].get("hammer"), figures["rows"].get("before")
    reference = to(hammer, figures["rows"].get(figures["reference"]), "cpu_us")
    cells = [name, f"{reference} of {figures['reference']}" if reference else "-", to(hammer, before, "cpu_us")]
    of_user = [number(hammer, "user_us", ".2f", " us"), number(before, "user_us", ".2f", " us"), to(hammer, before, "user_us")]
    return line(cells + (of_user if user else ["", "", ""]))


def told(figures):
    """What of the rounds was carried out again, and which are kept although others were there."""
    repeated = sum(one["repeated"] for one in figures["rounds"])
    kept = [f"{number + 1} ({one['others']:.1f} %)" for number, one in enumerate(figures["rounds"]) if one["disturbed"]]
    most = f"others took over {figures['others_max_percent']:g} % of a core"
    text = f"; {repeated} times a round was begun again, since {most}" if repeated else ""
    return text + (f"; kept although {most}: round {', '.join(kept)}" if kept else "")


def to(rows, reference, column):
    return spread_text(ratios(rows, reference, column), ".2f")


def spread_text(values, form, unit=""):
    """The median, and the least to the most where there is more than one."""
    if not values:
        return ""
    middle, least, most = spread(values)
    text = f"{middle:{form}}{unit}"
    return text if len(values) == 1 else f"{text} ({least:{form}} to {most:{form}})"


def line(cells):
    return f"| {' | '.join(cells)} |"


def known(rows, column):
    return [row[column] for row in rows or [] if column in row]


def median(rows, column):
    """None where no round has it."""
    values = known(rows, column)
    return statistics.median(values) if values else None


def number(rows, column, form, unit=""):
    value = median(rows, column)
    return "-" if value is None else f"{value:{form}}{unit}"


def duration(milliseconds):
    if milliseconds is None:
        return "-"
    return "never" if math.isinf(milliseconds) else f"{milliseconds:.2f} ms"
