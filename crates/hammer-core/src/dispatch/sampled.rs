//! Which operations are kept one by one, as they get their fates.

use hammer_measure::{Detail, Fate, Nanos, Phase, Recorder, SampleCandidate, SampleSizes};

use crate::draw::Draws;
use crate::record::{FinishedOperation, OperationRecord};
use crate::runtime::Runtime;
use crate::workload::Workload;

use super::context::LaneContext;

/// How single operations are sampled.
#[derive(Clone, Copy, Debug)]
pub struct OperationSampling {
    /// How many of each series, phase and interval.
    pub sizes: SampleSizes,
    /// Of the draws by which the uniform sample is taken.
    pub seed: u64,
}

/// An arrival that got no slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnstartedOperation {
    pub(super) seq: u64,
    pub(super) series: usize,
    pub(super) phase: Phase,
    pub(super) intended: Nanos,
}

impl OperationSampling {
    /// The draws of a workload's operations.
    pub(super) fn draws_of(self, first_series: usize) -> Draws {
        Draws::new(self.seed, SAMPLES ^ first_series as u64)
    }
}

impl<W: Workload, R: Runtime> LaneContext<W, R> {
    /// An operation has ended, and may be kept.
    pub(super) fn sample(&self, series: usize, record: &OperationRecord, finished: &FinishedOperation) {
        let Some(draws) = self.sample_draws else { return };
        let (seq, phase) = (record.seq(), record.phase());
        let has_ended = Fate::from(finished.completion.outcome).timed();
        let response_time = has_ended.then(|| finished.timing.response_time());
        let candidate = SampleCandidate { seq, draw: draws.bits(seq), response_time };
        let mut recorder = self.recorder.borrow_mut();
        recorder.sample(series, phase, candidate, |sample| record.write_sample(finished, sample));
    }

    /// An arrival got its fate at `at` without a slot, and may be kept.
    pub(super) fn sample_unstarted(
        &self,
        recorder: &mut Recorder,
        operation: UnstartedOperation,
        at: Nanos,
        ended: (Fate, Detail),
    ) {
        let Some(draws) = self.sample_draws else { return };
        let UnstartedOperation { seq, series, phase, intended } = operation;
        let candidate = SampleCandidate { seq, draw: draws.bits(seq), response_time: None };
        recorder.sample(series, phase, candidate, |sample| {
            sample.restart(seq, (phase, intended), ended);
            sample.ended = at;
        });
    }
}

const SAMPLES: u64 = 0x7361_6d70_6c65;
