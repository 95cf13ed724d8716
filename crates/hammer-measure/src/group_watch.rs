//! When an operation of a group of users takes longer than any of that group before.

use crate::event::Beside;
use crate::recorder::{Interval, phase_index};
use crate::series::{Phase, SeriesInfo};
use crate::timing::Nanos;

/// The longest operations of each group so far, in measurement.
#[derive(Debug)]
pub struct GroupWatch {
    /// By series.
    workloads: Vec<String>,
    /// By series, then by group.
    longest: Vec<Vec<Nanos>>,
}

impl GroupWatch {
    /// A watch that has seen none, of a run with these series.
    pub fn new(series: &[SeriesInfo]) -> Self {
        let workloads = series.iter().map(|series| series.workload.clone()).collect();
        Self { workloads, longest: vec![Vec::new(); series.len()] }
    }

    /// The groups whose longest operation is a longer one than at the last look, each with when that was done; `total` is everything that
    /// the run recorded so far. Of several in an interval the longest alone is known.
    pub fn look(&mut self, total: &Interval) -> Vec<(Nanos, Beside)> {
        let mut highs = Vec::new();
        for ((workload, known), records) in self.workloads.iter().zip(&mut self.longest).zip(&total.series) {
            let groups = &records[phase_index(Phase::Measurement)].groups;
            known.resize(groups.len().max(known.len()), Nanos::ZERO);
            for ((known, group), number) in known.iter_mut().zip(groups).zip(1..) {
                if group.longest > *known {
                    *known = group.longest;
                    let (workload, response_time) = (workload.clone(), group.longest);
                    let what = Beside::RecordHigh { workload, group: number, response_time };
                    highs.push((group.longest_done, what));
                }
            }
        }
        highs.sort_by_key(|(done, _)| *done);
        highs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;
    use crate::recorder::{Recorder, UserGroup};
    use crate::timing::Timing;

    #[test]
    fn a_longer_operation_of_a_group_is_told_once_and_a_shorter_one_never() {
        let series = |workload: &str| SeriesInfo {
            workload: workload.to_owned(),
            name: "cades".to_owned(),
            operation: true,
            closed_loop: true,
            refusals_meant: false,
        };
        let series = [series("other"), series("sign")];
        let (mut watch, mut recorder, mut total) =
            (GroupWatch::new(&series), Recorder::new(2), Interval::with_series(2));
        let mut ended = |ends: &[(Phase, usize, u64)]| {
            for (phase, place, took) in ends {
                let timing =
                    Timing::new(Nanos(0), Nanos(0)).started(Nanos(0)).finished(Nanos(0), Nanos(*took));
                let group = UserGroup { place: *place, of: 2 };
                recorder.ended_in_group(1, *phase, group, &timing, Outcome::Accepted);
            }
            total.merge(&recorder.swap(Nanos(1), Interval::with_series(2)));
            let told = watch.look(&total).into_iter();
            let told = told.map(|(done, what)| match what {
                Beside::RecordHigh { workload, group, response_time } => {
                    assert_eq!((workload.as_str(), response_time), ("sign", done));
                    (group, done.0)
                }
                other => panic!("{other:?}"),
            });
            told.collect::<Vec<_>>()
        };
        let measured = Phase::Measurement;
        assert_eq!(ended(&[(Phase::WarmUp, 0, 90)]), []);
        assert_eq!(ended(&[(measured, 1, 30), (measured, 0, 7), (measured, 0, 5)]), [(1, 7), (2, 30)]);
        assert_eq!(ended(&[(measured, 1, 30), (measured, 0, 6)]), []);
        assert_eq!(ended(&[(measured, 1, 31)]), [(2, 31)]);
    }
}
