//! The record of one operation under way: its exchanges, each step with a series of its own, what it computed, and the promises
//! that it was given.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hammer_measure::recorder::{Completion, MOST_ANSWER_BYTES, start_of};
use hammer_measure::{Nanos, Now, OperationSample, Outcome, Phase, Recorder, StepSample, Subject, Timing};

use crate::answers::{ShardAnswers, WantedAnswer};
use crate::crew::Crew;
use crate::ended::Ended;
use crate::promise::{PromiseKind, PromiseSender};

mod exchange;
mod flow;
mod step;
mod trace;

pub use exchange::Exchange;
pub use step::StepGuard;

use flow::Flow;
use trace::OperationTrace;

/// The record of an operation. A slot keeps one and uses it again for every operation that it carries out.
pub struct OperationRecord {
    recorder: Rc<RefCell<Recorder>>,
    clock: Rc<dyn Now>,
    crew: Crew,
    answers: ShardAnswers,
    promises: Option<PromiseSender>,
    /// The run's place of the workload's first series.
    first_series: usize,
    /// The parts of the workload that the operation is in now, the outer first.
    parts: RefCell<Vec<Rc<PartPlaces>>>,
    now_at: Cell<Standing>,
    flow: RefCell<Flow>,
    /// How whatever is cut off now ends.
    cut_off: Cell<Option<Ended>>,
    /// The promise that something is to be read beside the operation for, so that it can be checked; of a check, until it is handed over.
    owes_check: Cell<Option<PromiseKind>>,
    /// How the last exchange ended that was no success, and what the server said with it.
    said: RefCell<Option<(Ended, String)>>,
    /// What is kept for a sample of it, where operations are sampled.
    trace: Option<RefCell<OperationTrace>>,
}

/// Which operation it is, and in which of its two halves it stands.
#[derive(Clone, Copy, Debug)]
struct Standing {
    seq: u64,
    /// Among all series of the run.
    series: usize,
    phase: Phase,
    intended: Nanos,
    /// Whether exchanges count as the operation's own; those of a check do not.
    in_flow: bool,
}

/// What a part of a workload calls its own, in the words of the workload that is made of it.
#[derive(Clone, Debug)]
pub(crate) struct PartPlaces {
    /// The place of each of its series.
    pub(crate) series: Vec<usize>,
    /// Each of its kinds of promises.
    pub(crate) kinds: std::sync::Arc<[PromiseKind]>,
}

/// An operation on its way into its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    pub(crate) seq: u64,
    pub(crate) series: usize,
    pub(crate) phase: Phase,
    pub(crate) intended: Nanos,
    pub(crate) started: Nanos,
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FinishedOperation {
    pub(crate) timing: Timing,
    pub(crate) completion: Completion,
    /// When its user has it: an answer that arrived is nobody's before it was read.
    pub(crate) at_hand: Nanos,
}

/// What the shard lends to the records of its operations.
#[derive(Clone)]
pub(crate) struct RecordParts {
    pub(crate) recorder: Rc<RefCell<Recorder>>,
    pub(crate) clock: Rc<dyn Now>,
    pub(crate) crew: Crew,
    pub(crate) answers: ShardAnswers,
    pub(crate) promises: Option<PromiseSender>,
    pub(crate) first_series: usize,
    /// Whether operations are sampled one by one.
    pub(crate) is_sampled: bool,
}

impl OperationRecord {
    pub(crate) fn new(parts: RecordParts) -> Self {
        let RecordParts { recorder, clock, crew, answers, promises, first_series, is_sampled } = parts;
        let nowhere = Standing {
            seq: 0,
            series: first_series,
            phase: Phase::Measurement,
            intended: Nanos::ZERO,
            in_flow: true,
        };
        Self {
            recorder,
            clock,
            crew,
            answers,
            promises,
            first_series,
            parts: RefCell::default(),
            now_at: Cell::new(nowhere),
            flow: RefCell::default(),
            cut_off: Cell::new(None),
            owes_check: Cell::new(None),
            said: RefCell::default(),
            trace: is_sampled.then(RefCell::default),
        }
    }

    /// The operation's sequence number.
    pub fn seq(&self) -> u64 {
        self.now_at.get().seq
    }

    /// The phase that it was intended in.
    pub(crate) fn phase(&self) -> Phase {
        self.now_at.get().phase
    }

    /// The instant at which the plan wanted it sent.
    pub fn intended(&self) -> Nanos {
        self.now_at.get().intended
    }

    /// Says what the operation is of: the leaf, device, document or whatever its workload counts by `kind`, in the singular, of that number.
    /// It stands with the operation where that is sampled, and nobody asks for it where none are.
    pub fn is_of(&self, kind: &'static str, number: impl FnOnce() -> u64) {
        if let Some(trace) = &self.trace {
            trace.borrow_mut().subject = Some(Subject { kind, number: number() });
        }
    }

    /// Starts an exchange of the operation that is no step with a series of its own.
    pub fn exchange(&self) -> StepGuard<'_> {
        StepGuard::new(self, None)
    }

    /// Starts a step: an exchange that has a series of its own, the `series`-th of the workload. It records itself when it is
    /// dropped, however it ends; a step that the deadline or the end of drain cuts off has its sample like any other.
    pub fn step(&self, series: usize) -> StepGuard<'_> {
        StepGuard::new(self, Some(self.series_of(series)))
    }

    /// Has `work` computed on the crew, off the shard: what takes more than a hand-over to another thread and back, some tens of
    /// microseconds, such as an RSA signature over a server's nonce. The time until the value is back is client time; how long it waited for a thread is health's business.
    pub async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let computed = self.crew.compute(work).await;
        let standing = self.now_at.get();
        self.recorder.borrow_mut().computed(standing.series, standing.phase, computed.waited);
        if standing.in_flow {
            self.flow.borrow_mut().computed_until(self.clock.now());
        }
        computed.value
    }

    /// A part of the workload goes on from here. Parts within parts enter one after another, the outer first.
    pub(crate) fn enter_part(&self, places: Rc<PartPlaces>) {
        self.parts.borrow_mut().push(places);
    }

    /// The part that entered last goes no further.
    pub(crate) fn leave_part(&self) {
        self.parts.borrow_mut().pop();
    }

    /// Says that [`crate::workload::Workload::check`] shall read what the promise of this operation is held against, once the operation itself has
    /// ended and its slot is free. The promise counts as made, whatever comes of the check.
    pub fn check_beside(&self, kind: PromiseKind) {
        self.owes_check.set(Some(self.outermost(kind)));
    }

    /// Hands a promise that the server made to the workload's verifier.
    ///
    /// # Panics
    /// When the workload has no verifier.
    pub fn promise(&self, kind: PromiseKind, record: &[u8]) {
        self.promise_by(kind, |promises, kind| promises.send(kind, self.seq(), record));
    }

    /// The same with a record that is given away, so that a large one is not copied.
    ///
    /// # Panics
    /// When the workload has no verifier.
    pub fn promise_owned(&self, kind: PromiseKind, record: Vec<u8>) {
        self.promise_by(kind, |promises, kind| promises.send_owned(kind, self.seq(), record));
    }

    fn promise_by(&self, kind: PromiseKind, send: impl FnOnce(&PromiseSender, PromiseKind)) {
        let kind = self.outermost(kind);
        let promises = self.promises.as_ref().expect("a workload that receives promises has a verifier");
        send(promises, kind);
        // An operation owes its check all the same: that is what hands this one over.
        if !self.now_at.get().in_flow && self.owes_check.get() == Some(kind) {
            self.owes_check.set(None);
        }
    }

    pub(crate) fn start(&self, admission: Admission) {
        let Admission { seq, series, phase, intended, started } = admission;
        self.now_at.set(Standing { seq, series, phase, intended, in_flow: true });
        self.flow.borrow_mut().start(started);
        self.forget();
    }

    /// The check of the operation `seq` starts: its exchanges are not the operation's own.
    pub(crate) fn start_beside(&self, admission: Admission) {
        self.start(admission);
        self.now_at.set(Standing { in_flow: false, ..self.now_at.get() });
    }

    fn forget(&self) {
        self.parts.borrow_mut().clear();
        self.cut_off.set(None);
        self.owes_check.set(None);
        self.said.take();
        if let Some(trace) = &self.trace {
            trace.borrow_mut().clear();
        }
    }

    /// What is under way is about to be dropped, and ends so.
    pub(crate) fn cut_off(&self, ended: Ended) {
        self.cut_off.set(Some(ended));
    }

    /// Puts the operation's end into `timing`, with when its user has all of it; `ended` is how it said itself that it ended, or
    /// how it was cut off.
    pub(crate) fn finish(&self, timing: Timing, ended: Ended) -> FinishedOperation {
        let mut flow = self.flow.borrow_mut();
        if self.cut_off.get().is_some() || flow.is_empty() {
            flow.ended(self.clock.now());
        }
        let wire = flow.wire();
        let completion = Completion {
            outcome: ended.outcome,
            detail: ended.detail,
            sent: wire.sent.is_some(),
            read_lag: flow.read_lag(),
            held_up: None,
            resent: wire.resent,
            redialled: wire.redialled,
            bytes_out: wire.bytes_out,
            bytes_in: wire.bytes_in,
        };
        FinishedOperation { at_hand: flow.at_hand(), timing: flow.timing(timing), completion }
    }

    /// Writes a finished operation down as its sample.
    pub(crate) fn write_sample(&self, finished: &FinishedOperation, sample: &mut OperationSample) {
        let Standing { seq, phase, intended, .. } = self.now_at.get();
        let FinishedOperation { timing, completion, .. } = finished;
        let ended = Ended { outcome: completion.outcome, detail: completion.detail };
        sample.restart(seq, (phase, intended), (ended.outcome.into(), ended.detail));
        sample.timing = Some(*timing);
        sample.ended = timing.done();
        sample.read_lag = completion.read_lag;
        sample.wire = self.flow.borrow().wire().sampled();
        if let Some((_, text)) = self.said.borrow().as_ref().filter(|(said, _)| *said == ended) {
            sample.answer.push_str(start_of(text, MOST_ANSWER_BYTES));
        }
        if let Some(trace) = &self.trace {
            trace.borrow().write(sample);
        }
    }

    /// Records what the server said with the end of the operation, where it ended as its exchange did.
    pub(crate) fn tell_answer(&self, finished: &FinishedOperation) {
        let said = self.said.borrow();
        let Completion { outcome, detail, .. } = finished.completion;
        if let Some((ended, text)) = said.as_ref().filter(|(ended, _)| *ended == Ended { outcome, detail }) {
            let Standing { series, phase, .. } = self.now_at.get();
            let (cause, at) = ((ended.outcome.into(), ended.detail), self.flow.borrow().at_hand());
            self.recorder.borrow_mut().answered(series, phase, cause, at, text);
        }
    }

    /// The check of an operation starts, which owes a promise of that kind.
    pub(crate) fn start_check(&self, admission: Admission, kind: PromiseKind) {
        self.start_beside(admission);
        self.owes_check.set(Some(kind));
    }

    /// The kind of the promise that a check is to make, where there is one; of a check, while it was not handed over.
    pub(crate) fn owes_check(&self) -> Option<PromiseKind> {
        self.owes_check.get()
    }

    /// The promise that a check was to make true was not handed over: nobody will judge it.
    pub(crate) fn leave_unchecked(&self, kind: PromiseKind) {
        if let Some(promises) = &self.promises {
            promises.leave_unchecked(kind);
        }
    }

    fn series_of(&self, series: usize) -> usize {
        let parts = self.parts.borrow();
        self.first_series + parts.iter().rev().fold(series, |series, part| part.series[series])
    }

    fn outermost(&self, kind: PromiseKind) -> PromiseKind {
        self.parts.borrow().iter().rev().fold(kind, |kind, part| part.kinds[usize::from(kind.0)])
    }

    /// The answer of a step is what its flow goes on with: it wakes the shard.
    fn want_answer(&self) -> WantedAnswer {
        self.answers.want()
    }

    /// A step or an exchange ended.
    fn record(
        &self,
        series: Option<usize>,
        started: Nanos,
        exchange: &Exchange,
        (ended, said): (Ended, Option<String>),
    ) {
        let standing = self.now_at.get();
        let done = exchange.done.unwrap_or_else(|| self.clock.now());
        if standing.in_flow {
            self.flow.borrow_mut().exchanged(started, exchange, done);
        }
        if let Some(series) = series {
            let timing = Timing::new(started, started).started(started);
            let timing = timing.finished(exchange.sent.unwrap_or(started), done);
            let completion = Completion {
                outcome: ended.outcome,
                detail: ended.detail,
                sent: exchange.sent.is_some(),
                read_lag: exchange.read_lag(),
                held_up: None,
                resent: exchange.resent,
                redialled: exchange.redialled,
                bytes_out: exchange.bytes_out,
                bytes_in: exchange.bytes_in,
            };
            if let Some(trace) = self.trace.as_ref().filter(|_| standing.in_flow) {
                trace.borrow_mut().steps.push(StepSample {
                    series,
                    started,
                    done,
                    wire: exchange.sampled(),
                    fate: ended.outcome.into(),
                    detail: ended.detail,
                });
            }
            let mut recorder = self.recorder.borrow_mut();
            recorder.step(series, standing.phase, &timing, &completion);
            if let Some(text) = said.as_ref().filter(|_| ended.outcome != Outcome::Accepted) {
                let cause = (ended.outcome.into(), ended.detail);
                recorder.answered(series, standing.phase, cause, done, text);
            }
        }
        if standing.in_flow
            && let Some(text) = said
        {
            self.said.replace(Some((ended, text)));
        }
    }

    /// Whether the first answer of that cause is known of a step's series, or of the operation's own where the exchange has none. The
    /// operation of a step may have another end, or none: it is not asked.
    fn has_been_said(&self, step: Option<usize>, ended: Ended) -> bool {
        let standing = self.now_at.get();
        let recorder = self.recorder.borrow();
        let series = step.or_else(|| standing.in_flow.then_some(standing.series));
        let cause = (ended.outcome.into(), ended.detail);
        series.is_none_or(|series| recorder.is_answered(series, standing.phase, cause))
    }

    /// When an exchange that starts now started: the first of an operation at the operation's own start, which saves a look at
    /// the clock and leaves no gap between the two. Those of a check leave no trace in the flow, and pauses between them are nobody's wait.
    fn exchange_start(&self) -> Nanos {
        let untouched = self.now_at.get().in_flow.then(|| self.flow.borrow().untouched_since()).flatten();
        untouched.unwrap_or_else(|| self.clock.now())
    }

    /// How a step ends that nobody ended: cut off with its operation, or given up by its own flow.
    fn unfinished(&self) -> Ended {
        self.cut_off.get().unwrap_or(Ended::failed(Outcome::Abandoned, "given up by its flow"))
    }
}
