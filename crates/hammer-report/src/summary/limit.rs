//! A rate that more load does not raise and another value of a swept key does: what limits it is not on the way of everything.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::median::median;
use super::run::{KeyFigures, SummaryRun};
use super::swept::{Rounds, SweptGroup, is_swept, keys_of_load, workload, workloads};
use super::wording::words;
use crate::text::number::per_second;

/// A rate of a workload that stays where it is over a sweep of users or rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweptLimit {
    /// The workload.
    pub workload: String,
    /// The swept key by which the load grows.
    pub key: String,
    /// The values of the other swept keys, where there are any.
    pub at: BTreeMap<String, Value>,
    /// The least load of those that make no difference.
    pub from: Value,
    /// The greatest.
    pub to: Value,
    /// What is accepted at the least of them, in a second.
    pub from_per_s: f64,
    /// What is accepted at the greatest of them.
    pub to_per_s: f64,
    /// The swept key by another value of which the rate is three times as high at least, where there is one.
    pub freed_by: Option<FreedRate>,
    /// The same as a sentence.
    pub text: String,
}

/// A rate that is not limited, where one other key has another value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FreedRate {
    /// The key.
    pub key: String,
    /// Its value there.
    pub value: Value,
    /// What is accepted there in a second, at the greatest of the same loads.
    pub per_s: f64,
}

/// One load, with the medians over its rounds.
#[derive(Clone, Debug)]
struct SweptLevel {
    label: Value,
    load: f64,
    rate: f64,
    is_even: bool,
}

/// A workload at a combination of the other keys, over its loads in ascending order.
struct Group {
    workload: String,
    at: BTreeMap<String, Value>,
    levels: Vec<SweptLevel>,
}

/// Those of all workloads over each sweep of users or rates.
pub(super) fn limits(runs: &[SummaryRun]) -> Vec<SweptLimit> {
    let found = keys_of_load(runs).flat_map(|key| {
        let groups: Vec<Group> =
            SweptGroup::all(runs, key).iter().flat_map(|group| of_group(group, key)).collect();
        groups.iter().filter_map(|group| limit(group, &groups, key)).collect::<Vec<_>>()
    });
    found.collect()
}

/// The workloads whose load is swept.
fn of_group(group: &SweptGroup<'_>, key: &str) -> Vec<Group> {
    let first = group.runs[0];
    let swept = workloads(first).into_iter().filter(|workload| is_swept(first, key, workload));
    swept
        .map(|of| Group { workload: of.to_owned(), at: group.at.clone(), levels: levels(of, group, key) })
        .collect()
}

fn levels(of: &str, group: &SweptGroup<'_>, key: &str) -> Vec<SweptLevel> {
    let sum = |run: &SummaryRun, figure: fn(&KeyFigures) -> Option<f64>| {
        let own = run.series.iter().filter(|series| workload(&series.path) == of);
        own.map(figure).sum::<Option<f64>>()
    };
    let level = |(label, runs): Rounds<'_>| {
        let all = |figure: fn(&KeyFigures) -> Option<f64>| {
            runs.iter().map(|run| sum(run, figure)).collect::<Option<Vec<f64>>>()
        };
        // What a rate was meant to be is written in many ways; what was offered is what it came to.
        let load = label.as_f64().or_else(|| all(|series| series.offered_per_s).map(median))?;
        let rate = median(all(|series| series.accepted_per_s)?);
        let is_even = runs.iter().all(|run| run.steady.contains_key(of));
        Some(SweptLevel { label: label.clone(), load, rate, is_even })
    };
    let mut levels: Vec<SweptLevel> = group.rounds(key).into_iter().filter_map(level).collect();
    levels.sort_by(|one, other| one.load.total_cmp(&other.load));
    levels
}

/// From the greatest load down, as long as the rate stays.
fn limit(group: &Group, groups: &[Group], key: &str) -> Option<SweptLimit> {
    let greatest = group.levels.last().filter(|level| level.rate > 0.0)?;
    let stays = |level: &&SweptLevel| (level.rate / greatest.rate - 1.0).abs() <= MOST_MOVED;
    let flat: Vec<&SweptLevel> = group.levels.iter().rev().take_while(stays).collect();
    let least = flat.last().filter(|least| least.load > 0.0 && greatest.load >= LEAST_GROWN * least.load)?;
    let is_even = flat.iter().all(|level| level.is_even);
    let freed_by = groups
        .iter()
        .filter_map(|other| freed(group, other, greatest))
        .max_by(|one, other| one.per_s.total_cmp(&other.per_s));
    // A server whose processor is used up has such a rate, too, and another one on a path that is cheaper to it.
    if !is_even {
        return None;
    }
    let mut limit = SweptLimit {
        workload: group.workload.clone(),
        key: key.to_owned(),
        at: group.at.clone(),
        from: least.label.clone(),
        to: greatest.label.clone(),
        from_per_s: least.rate,
        to_per_s: greatest.rate,
        freed_by,
        text: String::new(),
    };
    limit.text = limit.told();
    Some(limit)
}

/// The rate of `other` at the load of `greatest`, where it differs from `group` by one key and is far higher.
fn freed(group: &Group, other: &Group, greatest: &SweptLevel) -> Option<FreedRate> {
    if other.workload != group.workload {
        return None;
    }
    let mut differing = other.at.iter().filter(|(key, value)| group.at.get(*key) != Some(value));
    let (key, value) = differing.next()?;
    if differing.next().is_some() || other.at.len() != group.at.len() {
        return None;
    }
    let level = other.levels.iter().find(|level| level.label == greatest.label)?;
    (level.rate >= FREED * greatest.rate).then(|| FreedRate {
        key: key.clone(),
        value: value.clone(),
        per_s: level.rate,
    })
}

impl SweptLimit {
    fn told(&self) -> String {
        let unit = if self.from.is_number() && self.key.ends_with("users") { " users" } else { "" };
        let rates = format!(
            "{} at {}{unit} and {} at {}{unit}, as many in every interval",
            per_second(self.from_per_s),
            words(&self.from),
            per_second(self.to_per_s),
            words(&self.to),
        );
        let freed = self
            .freed_by
            .as_ref()
            .map(|freed| format!("{} with {} {}", per_second(freed.per_s), freed.key, words(&freed.value)));
        match freed {
            Some(freed) => format!(
                "{rates}, but {freed}: a rate limit that is not on the way of all, as of a client of an API behind a cache, has such figures"
            ),
            None => format!(
                "{rates}: a rate limit has such figures, or a fixed number of workers that take as long each"
            ),
        }
    }
}

/// A rate that moved by no more stayed where it was.
const MOST_MOVED: f64 = 0.05;
/// How much more load has to make no difference.
const LEAST_GROWN: f64 = 2.0;
/// How much higher a rate is that is not limited.
const FREED: f64 = 3.0;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::SteadyRate;

    fn run(users: u64, share: &str, rate: f64, is_even: bool) -> SummaryRun {
        let path = if share == "0%" { "page/get-cold" } else { "page/get-hot" };
        let figures = KeyFigures {
            path: path.to_owned(),
            accepted_per_s: Some(rate),
            offered_per_s: Some(rate),
            ..KeyFigures::default()
        };
        let steady = SteadyRate { per_s: rate, least_per_s: rate, most_per_s: rate, intervals: 9 };
        SummaryRun {
            labels: [("users".to_owned(), json!(users)), ("share".to_owned(), json!(share))].into(),
            series: vec![figures],
            steady: if is_even { [("page".to_owned(), steady)].into() } else { BTreeMap::new() },
            ..SummaryRun::default()
        }
    }

    fn texts(runs: &[SummaryRun]) -> Vec<String> {
        limits(runs).into_iter().map(|limit| limit.text).collect()
    }

    #[test]
    fn a_rate_that_more_users_do_not_raise_and_hot_paths_do_is_limited() {
        let limited = [
            run(10, "0%", 29.1, true),
            run(50, "0%", 29.3, true),
            run(10, "100%", 3_000.0, false),
            run(50, "100%", 9_000.0, false),
        ];
        assert_eq!(
            texts(&limited),
            [
                "29.1/s at 10 users and 29.3/s at 50 users, as many in every interval, but 9,000/s with share 100%: a rate limit that is not on the way of all, as of a client of an API behind a cache, has such figures"
            ]
        );
        assert_eq!(limits(&limited)[0].at["share"], json!("0%"));
        assert_eq!(
            texts(&limited[..2]),
            [
                "29.1/s at 10 users and 29.3/s at 50 users, as many in every interval: a rate limit has such figures, or a fixed number of workers that take as long each"
            ]
        );
        // One whose processor is used up has a rate that stays, and is as much faster on a path that costs it less.
        let busy = limited.clone().map(|run| SummaryRun { steady: BTreeMap::new(), ..run });
        assert_eq!(texts(&busy), Vec::<String>::new());
    }

    #[test]
    fn a_rate_that_moves_or_that_a_processor_bounds_is_not() {
        for (what, runs) in [
            (
                "it grows",
                vec![
                    run(10, "0%", 1_000.0, true),
                    run(50, "0%", 4_000.0, true),
                    run(50, "100%", 20_000.0, false),
                ],
            ),
            (
                "both are bounded alike",
                vec![
                    run(10, "0%", 5_000.0, false),
                    run(50, "0%", 5_100.0, false),
                    run(50, "100%", 7_000.0, false),
                ],
            ),
            ("too little more load", vec![run(40, "0%", 29.0, true), run(50, "0%", 29.0, true)]),
            ("another workload's load is swept", {
                let of_other = |users: u64| {
                    let mut run = run(users, "0%", 100.0, true);
                    run.labels = [("workloads.other.load.users".to_owned(), json!(users))].into();
                    run
                };
                vec![of_other(10), of_other(50)]
            }),
            ("one load", vec![run(50, "0%", 29.0, true)]),
            ("nothing accepted", vec![run(10, "0%", 0.0, false), run(50, "0%", 0.0, false)]),
        ] {
            assert_eq!(texts(&runs), Vec::<String>::new(), "{what}");
        }
    }
}
