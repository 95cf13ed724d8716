//! What the gateway answered by itself, faults left out.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use hammer_lab::RequestCounts;
use http::StatusCode;

/// Answers by endpoint and status.
#[derive(Debug, Default)]
pub(crate) struct AnswerCounts {
    counts: Mutex<BTreeMap<(&'static str, u16), u64>>,
}

impl AnswerCounts {
    pub(crate) fn answered(&self, endpoint: &'static str, status: StatusCode) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((endpoint, status.as_u16())).or_default() += 1;
    }

    pub(crate) fn by_endpoint(&self) -> RequestCounts {
        let mut all = RequestCounts::new();
        for (&(endpoint, status), &count) in &*self.counts.lock().unwrap_or_else(PoisonError::into_inner) {
            all.entry(endpoint.to_owned()).or_default().insert(status, count);
        }
        all
    }
}
