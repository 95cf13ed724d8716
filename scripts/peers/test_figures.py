"""Each reader against what its client really printed (testdata/README.md)."""

import json
import math
import os
import unittest

import figures
import table

TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata")


def recorded(name):
    with open(os.path.join(TESTDATA, name), encoding="utf-8") as file:
        return file.read()


class Figures(unittest.TestCase):
    def holds(self, found, **expected):
        self.assertEqual(found.keys(), expected.keys())
        for name, value in expected.items():
            self.assertAlmostEqual(found[name], value, places=6, msg=name)

    def test_wrk_counts_failures_among_its_requests(self):
        self.holds(figures.of_wrk(recorded("wrk.txt"), ""), sent=6687, answered=6687 - 668, seconds=1.04)

    def test_wrk2_tells_percentiles_in_several_units_and_requests_without_an_answer(self):
        self.holds(
            figures.of_wrk(recorded("wrk2.txt"), ""),
            sent=19991 + 7, answered=19991 - 11, seconds=20, p50_ms=0.912, p99_ms=2.22, p99_9_ms=2.44, max_ms=1210,
        )

    def test_oha_counts_errors_apart_from_statuses(self):
        report = json.loads(recorded("oha.txt"))
        report["errorDistribution"] = {"aborted due to deadline": 3}
        self.holds(
            figures.of_oha(json.dumps(report), ""),
            sent=203, answered=180, seconds=1.00152783, p50_ms=0.559304, p99_ms=4.10054, p99_9_ms=4.28174, max_ms=4.28174,
        )

    def test_hey_knows_no_percentile_above_the_99th(self):
        self.holds(
            figures.of_hey(recorded("hey.txt"), ""),
            sent=200, answered=180, seconds=1.0059, p50_ms=1.4, p99_ms=32.5, max_ms=32.6,
        )

    def test_hey_names_errors_by_number(self):
        errors = "\nError distribution:\n  [7]\tGet \"http://127.0.0.1:1/128\": EOF\n  [1]\tGet ...: timeout\n"
        self.assertEqual(figures.of_hey(recorded("hey.txt") + errors, "")["sent"], 208)

    def test_vegeta_has_its_highest_percentile_in_the_plot(self):
        self.holds(
            figures.of_vegeta(recorded("vegeta.txt"), ""),
            sent=200, answered=180, seconds=0.995215064,
            p50_ms=0.728335, p99_ms=10.495066, p99_9_ms=26.355028, max_ms=26.355028,
        )

    def test_k6_counts_what_it_dropped(self):
        self.holds(
            figures.of_k6(recorded("k6.txt"), ""),
            sent=196, answered=177, seconds=1.001842549,
            p50_ms=0.642397, p99_ms=37.95174, p99_9_ms=44.235507, max_ms=45.114549, dropped=5,
        )

    def test_locust_has_a_count_for_each_duration(self):
        self.holds(
            figures.of_locust(recorded("locust.txt"), ""),
            sent=440, answered=396, seconds=2.312447, p50_ms=1, p99_ms=67, p99_9_ms=110, max_ms=108.494837,
        )

    def test_hammer_tells_all_of_it(self):
        self.holds(
            figures.of_hammer("", recorded("hammer.json")),
            sent=200, answered=180, seconds=0.996993248,
            p50_ms=0.575999, p99_ms=8.282111, p99_9_ms=19.087359, max_ms=19.087359, dropped=0,
        )

    def test_what_was_never_sent_is_in_hammers_percentiles(self):
        report = json.loads(recorded("hammer.json"))
        report["series"][0]["measurement"]["durations"]["response_time"]["p99_ns"] = {"beyond_ns": 5}
        found = figures.of_hammer("", json.dumps(report))
        self.assertEqual((found["p50_ms"], found["p99_ms"]), (0.575999, math.inf))


class Table(unittest.TestCase):
    def test_a_row_has_medians_the_longest_and_what_was_not_sent(self):
        rows = [
            {"p50_ms": p50, "p99_ms": math.inf, "max_ms": 10 * p50, "not_sent": 250, "cpu_us": 20.0, "rss_mb": 9.6}
            for p50 in (1.0, 2.0, 9.0)
        ]
        row = table.open_loop(1000, {"hammer": rows}, 5000)[2]
        self.assertEqual(row, "| hammer | 2.00 ms | never | - | 90.00 ms | 250 (5.0 %) | 20.0 us | 10 MB |")

    def test_a_client_without_an_answer_has_no_figures(self):
        row = table.closed({"locust": [{"sent": 0}]})[2]
        self.assertEqual(row, "| locust | - | - | | - |")


if __name__ == "__main__":
    unittest.main()
