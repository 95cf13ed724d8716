"""Each reader against what its client really printed (testdata/README.md)."""

import json
import math
import os
import unittest

import figures
import others
import rounds
import table
from clients import Client

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

    def test_h2load_has_an_answer_for_each_success_and_sent_what_it_started(self):
        self.holds(figures.of_h2load(recorded("h2load.txt"), ""), sent=26453, answered=23813, seconds=1.01)

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
            p50_ms=0.575999, p99_ms=8.282111, p99_9_ms=19.087359, max_ms=19.087359, dropped=0, lag_p99_ms=1.245183,
        )

    def test_what_was_never_sent_is_in_hammers_percentiles(self):
        report = json.loads(recorded("hammer.json"))
        report["series"][0]["measurement"]["durations"]["response_time"]["p99_ns"] = {"beyond_ns": 5}
        found = figures.of_hammer("", json.dumps(report))
        self.assertEqual((found["p50_ms"], found["p99_ms"]), (0.575999, math.inf))


def client(name):
    return Client(name, lambda load: [], figures.of_wrk)


def runs(**others_by_name):
    """A run that takes what others took from the lists, one for each time that the client of this name runs."""
    left = {name: list(values) for name, values in others_by_name.items()}
    return lambda one: {"others": left[one.name].pop(0), "left": len(left[one.name])}


class Rounds(unittest.TestCase):
    both = [client("wrk"), client("hammer")]

    def test_each_round_is_begun_by_the_next_client(self):
        orders = [[one.name for one in rounds.turns(self.both, number)] for number in range(3)]
        self.assertEqual(orders, [["wrk", "hammer"], ["hammer", "wrk"], ["wrk", "hammer"]])

    def test_a_quiet_round_is_carried_out_once(self):
        found = rounds.undisturbed(self.both, runs(wrk=[3.0], hammer=[0.5]), 3, 5)
        self.assertEqual((found["repeated"], found["others"], found["disturbed"]), (0, 3.0, False))

    def test_a_disturbed_round_begins_again_with_all_of_its_clients(self):
        found = rounds.undisturbed(self.both, runs(wrk=[1, 4, 1], hammer=[9, 2]), 3, 5)
        self.assertEqual((found["repeated"], found["others"], found["disturbed"]), (2, 2, False))
        self.assertEqual(found["rows"], {"wrk": {"others": 1, "left": 0}, "hammer": {"others": 2, "left": 0}})

    def test_what_is_never_quiet_is_carried_out_to_its_end_and_marked(self):
        found = rounds.undisturbed(self.both, runs(wrk=[9, 9, 9], hammer=[7]), 3, 2)
        self.assertEqual((found["repeated"], found["others"], found["disturbed"]), (2, 9, True))
        self.assertEqual(list(found["rows"]), ["wrk", "hammer"])

    def test_ratios_are_of_the_same_round_before_their_median_is_taken(self):
        hammer = [{"cpu_us": cpu} for cpu in (10.0, 30.0, 11.0)]
        wrk = [{"cpu_us": cpu} for cpu in (10.0, 20.0, 10.0)]
        found = rounds.ratios(hammer, wrk, "cpu_us")
        self.assertEqual([round(one, 3) for one in found], [1.0, 1.5, 1.1])
        self.assertEqual(rounds.spread(found), (1.1, 1.0, 1.5))

    def test_a_round_in_which_one_of_the_two_has_no_figure_has_no_ratio(self):
        self.assertEqual(rounds.ratios([{"cpu_us": 1.0}, {}], [{}, {"cpu_us": 1.0}], "cpu_us"), [])
        self.assertEqual(rounds.ratios([{"cpu_us": 1.0}], None, "cpu_us"), [])
        self.assertIsNone(rounds.spread([]))


class Others(unittest.TestCase):
    def test_what_is_stolen_is_the_eighth_figure_of_each_core(self):
        line = " ".join(str(others.TICKS_A_SECOND * seconds) for seconds in (1, 2, 3, 100, 200, 4, 5, 6, 1, 2))
        self.assertEqual(others.stolen_seconds(f"cpu  {line}\ncpu0 {line}\ncpu12 {line}\nintr 5\n"), {0: 6, 12: 6})

    def test_a_process_has_used_what_its_children_left_to_it_whatever_its_name(self):
        ticks = " ".join(str(others.TICKS_A_SECOND * seconds) for seconds in (1, 2, 4, 8))
        process = f"17 (a) S 2 (b) S {{}} 17 17 0 -1 4194560 1 2 3 4 {ticks} 20 0"
        self.assertEqual(others.seconds_of(process.format(1)), 15)
        self.assertEqual(others.seconds_of(process.format(others.KTHREADD)), 0)
        self.assertEqual(others.seconds_of(None), 0)

    def test_what_others_took_is_in_percent_of_one_core(self):
        before = others.Moment(clock=10, used=100, stolen={0: 1, 1: 2})
        after = others.Moment(clock=20, used=100.5, stolen={0: 1.1, 1: 2.3})
        self.assertAlmostEqual(others.percent(before, after), 8)


class Table(unittest.TestCase):
    def test_a_row_has_medians_the_longest_and_what_was_not_sent(self):
        rows = [
            {"p50_ms": p50, "p99_ms": math.inf, "max_ms": 10 * p50, "not_sent": 250, "cpu_us": 20.0, "rss_mb": 9.6}
            for p50 in (1.0, 2.0, 9.0)
        ]
        figures_of = {"rows": {"hammer": rows}, "rounds": [], "seconds": 5, "reference": "oha", "others_max_percent": 3}
        row = table.open_loop(1000, figures_of)[4]
        self.assertEqual(row, "| hammer | 2.00 ms | never | - | 90.00 ms | 250 (5.0 %) | 20.0 us |  | 10 MB |")

    def test_a_client_without_an_answer_has_no_figures(self):
        row = table.closed("static", closed({"locust": [{"sent": 0}]}))[4]
        self.assertEqual(row, "| locust | - |  |  | - |  | - |")

    def test_hammer_is_held_against_the_reference_and_its_older_binary_round_by_round(self):
        rows = {
            "wrk": [{"cpu_us": 10.0}, {"cpu_us": 20.0}],
            "hammer": [{"cpu_us": 11.0, "user_us": 2.0}, {"cpu_us": 26.0, "user_us": 3.0}],
            "before": [{"user_us": 4.0}, {"user_us": 4.0}],
        }
        row = table.closed("static", closed(rows))[5]
        expected = "| hammer | - | 18.5 us (11.0 to 26.0) | 1.20 (1.10 to 1.30) | 2.5 us | 0.62 (0.50 to 0.75) | - |"
        self.assertEqual(row, expected)
        in_short = table.in_short({"closed": {"static": closed(rows)}, "open": {1000: closed(rows)}})[2:4]
        self.assertEqual(in_short, [
            "| static | 1.20 (1.10 to 1.30) of wrk |  | 2.50 us | 4.00 us | 0.62 (0.50 to 0.75) |",
            "| 1,000/s | 1.20 (1.10 to 1.30) of wrk |  |  |  |  |",
        ])

    def test_rounds_that_others_disturbed_are_named(self):
        told = [
            {"repeated": 2, "others": 1.0, "disturbed": False}, {"repeated": 3, "others": 4.54, "disturbed": True},
        ]
        found = table.told({"rounds": told, "others_max_percent": 3.0})
        self.assertEqual(found, (
            "; 5 times a round was begun again, since others took over 3 % of a core"
            "; kept although others took over 3 % of a core: round 2 (4.5 %)"
        ))

    def test_lateness_is_counted_by_round(self):
        rows = [{"lag_p99_ms": lag, "dropped": 1} for lag in (0.2, 1.5, 0.4)]
        (text, _) = table.lateness({"hammer": rows, "oha": [{}]})
        self.assertEqual(text, "hammer: dispatch lag p99 0.400 ms (0.200 to 1.500) (under 1 ms in 2 of 3), shed or starved 3")


def closed(rows):
    return {"rows": rows, "rounds": [], "reference": "wrk", "says": "a file", "connections": 50, "seconds": 5, "others_max_percent": 3}


if __name__ == "__main__":
    unittest.main()
