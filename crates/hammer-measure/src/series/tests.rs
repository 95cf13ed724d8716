use serde::de::IntoDeserializer;
use serde::de::value::Error;

use super::*;
use crate::recorder::phase_index;

#[test]
fn a_path_is_the_workload_and_the_name() {
    let series = SeriesInfo {
        workload: "submit".to_owned(),
        name: "add-chain/post".to_owned(),
        operation: false,
        closed_loop: false,
        refusals_meant: false,
    };
    assert_eq!(series.path(), "submit/add-chain/post");
}

#[test]
fn a_phase_has_one_name_wherever_it_is_told() {
    for (phase, name) in
        [(Phase::WarmUp, "warm_up"), (Phase::Measurement, "measurement"), (Phase::Drain, "drain")]
    {
        assert_eq!((phase.name(), phase.to_string().as_str()), (name, name));
        assert_eq!(format!("[{phase:>12}]"), format!("[{name:>12}]"));
        let read: Result<Phase, Error> = Phase::deserialize(name.into_deserializer());
        assert_eq!(read.unwrap(), phase);
    }
}

#[test]
fn phases_follow_one_another_and_each_with_arrivals_has_its_record() {
    assert!([Phase::WarmUp, Phase::Measurement, Phase::Drain].is_sorted());
    assert!(!Phase::WITH_ARRIVALS.contains(&Phase::Drain));
    assert_eq!(Phase::WITH_ARRIVALS.map(phase_index), [0, 1]);
}
