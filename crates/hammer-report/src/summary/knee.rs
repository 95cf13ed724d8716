//! The knee of a sweep: from which load on more of it brings little more than longer waits.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::median::{median, median_length};
use super::run::{KeyFigures, SummaryRun};
use super::swept::{SweptGroup, is_swept, keys_of_load};
use super::wording::words;
use crate::report::Nanoseconds;

/// Where the rate of a series stops to follow the load over a sweep of users or rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// `workload/name`.
    pub path: String,
    /// The swept key.
    pub key: String,
    /// The values of the other swept keys, where there are any.
    pub at: BTreeMap<String, Value>,
    /// The load beyond which little is gained, as the sweep has it.
    pub beyond: Value,
    /// The next greater load of the sweep.
    pub next: Value,
    /// How much the accepted rate rose from there to the next load: 0.03 is 3 %.
    pub rate_gain: f64,
    /// How many times as long the 95th percentile of the response time was at the next load; of that load arrivals never ended where
    /// `p95_is_beyond`, and it is longer still.
    pub p95_ratio: f64,
    /// Whether the 95th percentile at the next load falls on arrivals that never ended.
    pub p95_is_beyond: bool,
    /// The same as a sentence.
    pub text: String,
}

/// One load of a sweep, with the medians over its rounds.
#[derive(Debug)]
struct Level<'a> {
    label: &'a Value,
    load: f64,
    rate: f64,
    p95: Nanoseconds,
}

/// The knees of all series over each sweep of users or rates, for each combination of the other keys.
pub(super) fn knees(runs: &[SummaryRun]) -> Vec<Knee> {
    keys_of_load(runs).flat_map(|key| knees_over(runs, key)).collect()
}

fn knees_over(runs: &[SummaryRun], key: &str) -> Vec<Knee> {
    let groups = SweptGroup::all(runs, key);
    let found = groups.iter().flat_map(|group| {
        let first = group.runs[0];
        let paths = first.series.iter().map(|series| series.path.as_str());
        let paths = paths.filter(|path| is_swept(first, key, path));
        paths.filter_map(|path| knee(&levels(group, key, path), path, key, &group.at)).collect::<Vec<_>>()
    });
    found.collect()
}

/// The loads in ascending order.
fn levels<'a>(group: &SweptGroup<'a>, key: &str, path: &str) -> Vec<Level<'a>> {
    let figures = |run: &&'a SummaryRun| run.series.iter().find(|series| series.path == path);
    let levels = group.rounds(key).into_iter().filter_map(|(label, runs)| {
        let rounds: Vec<&KeyFigures> = runs.iter().filter_map(figures).collect();
        if rounds.is_empty() { None } else { Level::of(label, &rounds) }
    });
    let mut levels: Vec<Level<'_>> = levels.collect();
    levels.sort_by(|one, other| one.load.total_cmp(&other.load));
    levels
}

impl<'a> Level<'a> {
    /// `None` where a round has no figure.
    fn of(label: &'a Value, rounds: &[&KeyFigures]) -> Option<Self> {
        let all = |figure: fn(&KeyFigures) -> Option<f64>| {
            rounds.iter().map(|round| figure(round)).collect::<Option<Vec<f64>>>()
        };
        // What a rate was meant to be is written in many ways; what was offered is what it came to.
        let load = label.as_f64().or_else(|| all(|round| round.offered_per_s).map(median));
        let rate = median(all(|round| round.accepted_per_s)?);
        let p95 = rounds.iter().map(|round| round.response_p95_ns).collect::<Option<_>>()?;
        Some(Self { label, load: load?, rate, p95: median_length(p95)? })
    }

    /// Nanoseconds that are known to have passed, and whether they were more.
    fn p95(&self) -> (f64, bool) {
        match self.p95 {
            Nanoseconds::At(nanos) => (nanos as f64, false),
            Nanoseconds::Beyond { beyond_ns } => (beyond_ns as f64, true),
        }
    }

    /// How much of the growth of the load from here to `greater` the rate had: 1 where it followed it.
    fn followed(&self, greater: &Self) -> f64 {
        (greater.rate / self.rate - 1.0) / (greater.load / self.load - 1.0)
    }
}

/// The first load from which on the rate follows little of what is added, and the 95th percentile does.
fn knee(levels: &[Level<'_>], path: &str, key: &str, at: &BTreeMap<String, Value>) -> Option<Knee> {
    let place = (0..levels.len().saturating_sub(1)).find(|&place| {
        let (here, next) = (&levels[place], &levels[place + 1]);
        let is_measured = here.load > 0.0 && here.rate > 0.0 && !here.p95().1 && here.p95().0 > 0.0;
        if !is_measured || next.load <= here.load {
            return false;
        }
        let is_flat = levels[place + 1..].iter().all(|greater| here.followed(greater) <= MOST_FOLLOWED);
        let waits = next.p95().0 / here.p95().0 - 1.0;
        is_flat && (next.p95().1 || waits >= LEAST_WAITED * (next.load / here.load - 1.0))
    })?;
    let (here, next) = (&levels[place], &levels[place + 1]);
    let (rate_gain, p95_ratio) = (next.rate / here.rate - 1.0, next.p95().0 / here.p95().0);
    let p95_is_beyond = next.p95().1;
    let unit = if here.label.is_number() && key.ends_with("users") { " users" } else { "" };
    let more = if p95_is_beyond { "more than " } else { "" };
    let percent = (rate_gain * 100.0).round();
    // A minus belongs to what it is the sign of.
    let percent = if percent == 0.0 { 0.0 } else { percent };
    let text = format!("beyond {}{unit} {percent:+.0} % rate, {more}x{p95_ratio:.1} p95", words(here.label));
    Some(Knee {
        path: path.to_owned(),
        key: key.to_owned(),
        at: at.clone(),
        beyond: here.label.clone(),
        next: next.label.clone(),
        rate_gain,
        p95_ratio,
        p95_is_beyond,
        text,
    })
}

/// Of the growth of the load the rate has at most this beyond a knee: twice the load, and not a third more of the rate.
const MOST_FOLLOWED: f64 = 0.3;
/// Of the growth of the load the 95th percentile has at least this beyond a knee.
const LEAST_WAITED: f64 = 0.5;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Figures of one load: accepted and offered rate, 95th percentile in milliseconds; none where it never ended.
    type Figures = (f64, f64, Option<u64>);

    fn run(labels: &[(&str, Value)], series: &[(&str, Figures)]) -> SummaryRun {
        let key_figures = |(path, (accepted, offered, p95)): &(&str, Figures)| KeyFigures {
            path: (*path).to_owned(),
            offered_per_s: Some(*offered),
            accepted_per_s: Some(*accepted),
            response_p95_ns: Some(p95.map_or(Nanoseconds::Beyond { beyond_ns: 9_000_000_000 }, |ms| {
                Nanoseconds::At(ms * 1_000_000)
            })),
            completed_per_s: Some(*accepted),
            failed_per_s: Some(0.0),
            ..KeyFigures::default()
        };
        SummaryRun {
            labels: labels.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
            healthy: true,
            measured_seconds: 10.0,
            series: series.iter().map(key_figures).collect(),
            ..SummaryRun::default()
        }
    }

    /// A closed loop of so many users each.
    fn by_users(levels: &[(u64, f64, u64)]) -> Vec<SummaryRun> {
        let one = |(users, rate, p95): &(u64, f64, u64)| {
            run(&[("users", json!(users))], &[("verify/verify", (*rate, *rate, Some(*p95)))])
        };
        levels.iter().map(one).collect()
    }

    fn texts(runs: &[SummaryRun]) -> Vec<String> {
        knees(runs).into_iter().map(|knee| knee.text).collect()
    }

    #[test]
    fn twice_the_users_for_a_little_more_rate_and_twice_the_wait_are_a_knee() {
        let runs = by_users(&[(10, 250.0, 42), (25, 600.0, 44), (50, 1_260.0, 43), (100, 1_298.0, 86)]);
        assert_eq!(texts(&runs), ["beyond 50 users +3 % rate, x2.0 p95"]);
        let knee = &knees(&runs)[0];
        assert_eq!(
            (&knee.beyond, &knee.next, knee.path.as_str()),
            (&json!(50), &json!(100), "verify/verify")
        );
        let mut mixed = runs;
        mixed.reverse();
        assert_eq!(texts(&mixed).len(), 1, "the order of the sweep does not matter");
    }

    #[test]
    fn the_knee_is_the_first_load_that_all_greater_ones_agree_with() {
        let runs = by_users(&[(1, 10.0, 50), (2, 10.4, 100), (4, 40.0, 55), (8, 41.2, 110), (16, 39.0, 230)]);
        assert_eq!(texts(&runs), ["beyond 4 users +3 % rate, x2.0 p95"]);
    }

    #[test]
    fn a_rate_that_follows_the_load_has_no_knee() {
        for levels in [
            &[(10, 100.0, 50), (20, 200.0, 51), (40, 390.0, 55)][..],
            // Half of what is added is carried still.
            &[(10, 100.0, 50), (20, 150.0, 75), (40, 225.0, 110)],
            // Users who think: the rate stays, and nobody waits longer.
            &[(10, 100.0, 50), (20, 101.0, 50)],
            &[(10, 100.0, 50)],
            &[],
        ] {
            assert_eq!(texts(&by_users(levels)), Vec::<String>::new(), "{levels:?}");
        }
    }

    #[test]
    fn a_rate_that_is_offered_beyond_what_is_carried_has_one_too() {
        let one = |label: &str, accepted: f64, offered: f64, p95| {
            run(&[("rate", json!(label))], &[("get/get", (accepted, offered, p95))])
        };
        let runs = [
            one("500/s", 500.0, 500.0, Some(20)),
            one("60000/min", 1_000.0, 1_000.0, Some(30)),
            one("2000/s", 1_010.0, 2_000.0, None),
        ];
        assert_eq!(texts(&runs), ["beyond 60000/min +1 % rate, more than x300.0 p95"]);
        let shed_from_the_start = [one("500/s", 100.0, 500.0, None), one("1000/s", 100.0, 1_000.0, None)];
        assert_eq!(texts(&shed_from_the_start), Vec::<String>::new());
    }

    #[test]
    fn rounds_are_taken_together_by_their_medians_and_other_keys_apart() {
        let one = |users: u64, round: u64, path: &str, rate: f64, p95: u64| {
            let labels = [("users", json!(users)), ("round", json!(round)), ("path", json!(path))];
            run(&labels, &[("get/get", (rate, rate, Some(p95)))])
        };
        let mut runs = Vec::new();
        for (round, noise) in [(1, 1.0), (2, 0.2), (3, 1.02)] {
            runs.push(one(50, round, "/slow", 1_000.0 * noise, 40));
            runs.push(one(100, round, "/slow", 1_000.0, 80));
            runs.push(one(50, round, "/quick", 1_000.0, 40));
            runs.push(one(100, round, "/quick", 2_000.0 * noise, 41));
        }
        let found = knees(&runs);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].text.as_str(), &found[0].at["path"]),
            ("beyond 50 users +0 % rate, x2.0 p95", &json!("/slow"))
        );
    }

    #[test]
    fn a_workload_whose_load_is_not_swept_has_no_knee() {
        let one = |key: &str, users: u64, p95: u64| {
            let constant = (10.0, 10.0, Some(p95));
            run(&[(key, json!(users))], &[("sign/sign", (42.0, 42.0, Some(p95))), ("read/read", constant)])
        };
        for key in ["workloads.sign.load.users", "workloads.0.load.users"] {
            let found = knees(&[one(key, 20, 250), one(key, 40, 500)]);
            assert_eq!(
                found.iter().map(|knee| knee.path.as_str()).collect::<Vec<_>>(),
                ["sign/sign"],
                "{key}"
            );
        }
        assert_eq!(knees(&[one("lab.http.users", 20, 250), one("lab.http.users", 40, 500)]), []);
    }
}
