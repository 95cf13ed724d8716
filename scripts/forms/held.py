"""Other readers' view of what hammer made of a report, held against the report itself.

    python3 held.py csv REPORT.json TABLE.csv       as Python's csv reads it
    python3 held.py junit REPORT.json TESTS.xml     as Python's xml.etree reads it
    python3 held.py hlog REPORT.json TAGS.jsonl     what ReadHlog.java printed of an interval log

Prints how much was compared. Exits 1, and says what differs, where anything does.
"""

import csv
import json
import math
import sys
import xml.etree.ElementTree
from datetime import datetime

PHASES = ("warm_up", "measurement")


class Held:
    """What was compared, and what differed."""

    def __init__(self):
        self.count = 0
        self.differences = []

    def equal(self, what, found, said):
        self.count += 1
        if found != said:
            self.differences.append(f"{what}: it has {found!r}, the report says {said!r}")


def table(held, report, path):
    """Every figure of every series and phase stands in its row, under its place in the JSON."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = {(row["path"], row["phase"]): row for row in csv.DictReader(file)}
    for series in report["series"]:
        for phase in PHASES:
            row = rows.pop((series["path"], phase), None)
            if row is None:
                held.differences.append(f"{series['path']}, {phase}: it has no row")
                continue
            for key in ("workload", "name", "kind"):
                held.equal(key, row[key], series[key])
            for place, figure in figures(series[phase]):
                held.equal(f"{series['path']}, {phase}, {place}", cell(row, place), number(figure))
    held.equal("rows of nothing in the report", list(rows), [])


def figures(phase, place=""):
    """The numbers of a phase by their places; what is no table has none."""
    for key, value in phase.items():
        if key in ("causes", "response_time_by_fate", "hdr"):
            continue
        if isinstance(value, dict) and "beyond_ns" not in value:
            yield from figures(value, f"{place}{key}.")
        elif value is not None:
            yield f"{place}{key}", value


def cell(row, place):
    return float(row[place]) if row.get(place) else row.get(place)


def number(figure):
    return math.inf if isinstance(figure, dict) else float(figure)


def junit(held, report, path):
    """A test case for each threshold, kind of promise and exit code; those failed that the report says."""
    root = xml.etree.ElementTree.parse(path).getroot()
    suites = {suite.get("name"): suite for suite in root.iter("testsuite")}
    cases = {name: list(suite.iter("testcase")) for name, suite in suites.items()}
    failed = {
        name: sum(case.find("failure") is not None for case in of_suite) for name, of_suite in cases.items()
    }
    for name, suite in suites.items():
        held.equal(f"tests of {name}", int(suite.get("tests")), len(cases[name]))
        held.equal(f"failures of {name}", int(suite.get("failures")), failed[name])
    held.equal("tests", int(root.get("tests")), sum(map(len, cases.values())))
    held.equal("failures", int(root.get("failures")), sum(failed.values()))
    thresholds = [(of["series"], of["threshold"], of["holds"]) for of in report["thresholds"]]
    found = [(case.get("classname"), case.get("name"), case.find("failure") is None) for case in cases["thresholds"]]
    held.equal("thresholds", found, thresholds)
    kinds = [(of["workload"], of["kind"], of["broken"] == 0) for of in report["promises"].get("by_kind", [])]
    found = [(case.get("classname"), case.get("name"), case.find("failure") is None) for case in cases["promises"]]
    held.equal("promises", found, kinds)
    reasons = {reason["reason"] for reason in report["verdict"]["reasons"]}
    held.equal("failures of the verdict", failed["verdict"], len(reasons))


def hlog(held, report, path):
    """Each series has what ended in both phases; where nothing else was due in measurement, at the report's own figures."""
    with open(path, encoding="utf-8") as file:
        tags = {tag["tag"]: tag for tag in map(json.loads, file)}
    epoch = datetime.fromisoformat(report["run"]["epoch"]).timestamp()
    end = epoch + report["phases"][-1]["end_ns"] / 1e9
    percentiles = 0
    for series in report["series"]:
        path = series["path"]
        times = [series[phase]["durations"]["response_time"] for phase in PHASES]
        ended = sum(of["count"] - of["infinite"] for of in times if of)
        tag = tags.pop(path, {"count": 0})
        held.equal(f"{path}, count", tag["count"], ended)
        warm_up, measured = times
        if ended:
            is_within = epoch - 0.01 <= tag["start_s"] <= tag["end_s"] <= end + 0.01
            held.equal(f"{path}, lines lie within the run", is_within, True)
        if ended and warm_up is None and measured["infinite"] == 0:
            percentiles += 1
            for figure in ("max_ns", "p50_ns", "p99_ns"):
                held.equal(f"{path}, {figure}", tag[figure], measured[figure])
    held.equal("tags of nothing in the report", list(tags), [])
    held.equal("percentiles were compared", percentiles > 0, True)


def main():
    form, report, path = sys.argv[1:]
    held = Held()
    with open(report, encoding="utf-8") as file:
        {"csv": table, "junit": junit, "hlog": hlog}[form](held, json.load(file), path)
    for difference in held.differences:
        print(f"{form}: {difference}", file=sys.stderr)
    print(f"{form}: {held.count - len(held.differences)} of {held.count} compared are as the report says")
    sys.exit(1 if held.differences else 0)


main()
