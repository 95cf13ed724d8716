//! The plans of targets and workloads, as YAML.

use std::fmt::Debug;

use hammer_ct::{CtTargetPlan, ReadPlan, SubmitPlan};
use hammer_http::{HttpFlowsPlan, HttpPlan};
use hammer_measure::threshold::Threshold;
use hammer_sigstore::{SignPlan, SigstoreTargetPlan, TimestampPlan, VerifyPlan};
use hammer_values::Agreed;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::structure::text;

/// What is read says the same when it is written and read again.
pub(crate) fn plan(data: &[u8]) -> bool {
    let text = text(data);
    let _ = text.trim().parse::<Threshold>();
    let read = [
        reads_back::<Agreed<SubmitPlan>>(&text),
        reads_back::<ReadPlan>(&text),
        reads_back::<CtTargetPlan>(&text),
        reads_back::<Agreed<HttpPlan>>(&text),
        reads_back::<Agreed<HttpFlowsPlan>>(&text),
        reads_back::<SigstoreTargetPlan>(&text),
        reads_back::<Agreed<SignPlan>>(&text),
        reads_back::<VerifyPlan>(&text),
        reads_back::<TimestampPlan>(&text),
    ];
    read.contains(&true)
}

fn reads_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(text: &str) -> bool {
    let Ok(plan) = serde_saphyr::from_str::<T>(text) else { return false };
    let Ok(written) = serde_saphyr::to_string(&plan) else { return true };
    let again = serde_saphyr::from_str::<T>(&written);
    let again =
        again.unwrap_or_else(|error| panic!("{plan:?} is written as\n{written}\nwhich is none: {error}"));
    assert!(again == plan, "{plan:?} is written as\n{written}\nwhich is {again:?}");
    true
}
