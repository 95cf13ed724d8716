//! Mixes of unlike workloads, and one workload on several targets.

use hammer_core::compose::{InTurn, Mixed, MixedPart, Routed};
use hammer_core::dispatch::{Closed, Iterations, Load, Stages, Think};
use hammer_core::draw::Draws;
use hammer_core::workload::Workload;
use hammer_measure::recorder::Interval;
use hammer_measure::{Fate, Nanos};

use crate::harness::{MILLI, Received, SECOND, Scripted, Simulated, at_rate, bytes_of};

/// Four fifths of the operations have two steps and are prepared ahead; the others are a single exchange, prepared on the shard.
fn mixed() -> (Mixed<Scripted, Scripted>, [Received; 2]) {
    let flow = Scripted { steps: 2, ..Scripted::answering_after(MILLI) }.prepared_ahead();
    let single = Scripted::answering_after(MILLI * 3);
    let received = [flow.received.clone(), single.received.clone()];
    let part = |name: &str, weight, workload| MixedPart { name: name.to_owned(), weight, workload };
    (Mixed::new(part("flow", 4, flow), part("single", 1, single), Draws::new(7, 7)), received)
}

fn series(workload: &impl Workload, total: &Interval, name: &str) -> (u64, u64) {
    let place = workload.series().iter().position(|series| series.name == name);
    let record = &total.series[place.unwrap_or_else(|| panic!("no series {name}"))][1];
    (record.offered, record.fate(Fate::Accepted))
}

#[test]
fn a_mix_sends_its_parts_by_weight_each_in_its_own_series_and_numbered_on_its_own() {
    let names: Vec<String> = mixed().0.series().into_iter().map(|series| series.name).collect();
    assert_eq!(names, ["flow/flow", "single/flow", "flow/step-0", "flow/step-1"]);
    let mut sent = Vec::new();
    for shards in [1, 3] {
        let (mix, received) = mixed();
        let total = Simulated::measuring(SECOND).over(shards).run(mix, at_rate(1_000.0, 100, 100));
        let (names, _) = mixed();
        assert_eq!(series(&names, &total, "flow/flow"), (800, 800));
        assert_eq!(series(&names, &total, "single/flow"), (200, 200));
        assert_eq!(series(&names, &total, "flow/step-1"), (800, 800));
        // The part prepares by its own numbers, while the operation keeps its place in the whole.
        let [flow, single] = received.map(|received| received.lock().unwrap().clone());
        assert!(flow.values().map(|(_, bytes)| bytes.clone()).eq((0..800).map(|seq| bytes_of(seq).to_vec())));
        assert!(single.keys().all(|seq| !flow.contains_key(seq)));
        sent.push((flow.keys().copied().collect::<Vec<_>>(), single.keys().copied().collect::<Vec<_>>()));
    }
    assert_eq!(sent[0], sent[1], "which operation is of which part does not depend on the shards");
}

#[test]
fn users_of_a_closed_loop_take_operations_that_are_prepared_ahead_and_others_alike() {
    for iterations in [Iterations::Shared(1_000), Iterations::Endless] {
        let (mix, _) = mixed();
        let think = Think::Constant(Nanos::ZERO);
        let load = Load::Closed(Closed {
            stages: Stages::constant(7),
            spawn_rate: None,
            think,
            iterations: iterations.clone(),
            seed: 1,
        });
        let total = Simulated::measuring(SECOND).over(2).run(mix, load);
        let (names, _) = mixed();
        let (flow, single) = (series(&names, &total, "flow/flow"), series(&names, &total, "single/flow"));
        assert!(flow.0 == flow.1 && single.0 == single.1, "{flow:?} {single:?}");
        if let Iterations::Shared(count) = iterations {
            assert_eq!((flow.0, single.0), (count / 5 * 4, count / 5));
        } else {
            assert!(flow.0 + single.0 > 2_000, "{flow:?} {single:?}");
        }
    }
}

#[test]
fn mixes_of_mixes_and_several_targets_keep_their_names_apart() {
    let routed = || {
        let targets = ["a", "b"].map(|name| (name.to_owned(), mixed().0));
        Routed::new(InTurn::among(2), targets.into())
    };
    let outer = || {
        let other =
            MixedPart { name: "other".to_owned(), weight: 1, workload: Scripted::answering_after(MILLI) };
        let both = MixedPart { name: "both".to_owned(), weight: 1, workload: routed() };
        Mixed::new(both, other, Draws::new(1, 1))
    };
    let total = Simulated::measuring(SECOND).run(outer(), at_rate(1_000.0, 100, 100));
    let names = outer();
    assert_eq!(series(&names, &total, "other/flow"), (500, 500));
    for target in ["a", "b"] {
        assert_eq!(series(&names, &total, &format!("both/{target}/flow/flow")), (200, 200));
        assert_eq!(series(&names, &total, &format!("both/{target}/flow/step-0")), (200, 200));
        assert_eq!(series(&names, &total, &format!("both/{target}/single/flow")), (50, 50));
    }
}
