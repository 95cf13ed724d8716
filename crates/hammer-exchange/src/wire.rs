//! One exchange, told to its step: from net's words to the engine's.

use hammer_core::record::{Exchange, StepGuard};
use hammer_core::workload::Ended;
use hammer_measure::{Now, Outcome};
use hammer_net::{Answer, Failure};

use crate::said::{tell_failed, tell_said};
use crate::waiting::waited_for;

/// A request under way in a step. However it ends, the step knows what came over the wire until then: this writes it down when it
/// is dropped, which is before the step itself is.
struct Sending<'a, 'r> {
    step: &'a mut StepGuard<'r>,
    answer: &'a mut Answer,
    clock: &'a dyn Now,
}

impl Drop for Sending<'_, '_> {
    fn drop(&mut self) {
        let Answer { wire, bytes_out, bytes_in, resent, redialled, .. } = &*self.answer;
        *self.step.wire() = Exchange {
            sent: wire.sent,
            done: wire.done,
            read: wire.read,
            connected: wire.tls_done.or(wire.connected),
            first_byte: wire.first_byte,
            peer: wire.peer,
            bytes_out: *bytes_out,
            bytes_in: *bytes_in,
            resent: *resent,
            redialled: *redialled,
        };
        if let Some(ended) = self.step.cut_off()
            && !self.step.has_been_said(ended)
        {
            self.step.says(waited_for(self.answer, self.clock.now()));
        }
    }
}

/// Has `send` fill `answer`, as `step`. The step ends as the status says, unless the caller finds out more and says so before it drops
/// the guard; a caller that is dropped halfway leaves a step with the instants and bytes until then. Of the first failure of each cause it is
/// told what the server said, or where and why there was no answer, without the `secrets` of the request; not so of a status that the caller
/// `judges` by more, who tells what it finds.
///
/// # Errors
/// How the operation ends that got no answer.
pub async fn exchange(
    step: &mut StepGuard<'_>,
    answer: &mut Answer,
    clock: &dyn Now,
    (secrets, judges): (impl FnOnce() -> Vec<String>, impl FnOnce(u16) -> bool),
    send: impl AsyncFnOnce(&mut Answer) -> Result<(), Failure>,
) -> Result<(), Ended> {
    let sending = Sending { step, answer, clock };
    let sent = send(&mut *sending.answer).await;
    let ended = match &sent {
        Ok(()) => Ended::of_status(sending.answer.status.as_u16()),
        Err(failure) => Ended { outcome: failure.kind.outcome(), detail: failure.kind.into() },
    };
    drop(sending);
    step.ends(ended);
    // A failure, unlike an answer, is not stamped by the connection.
    step.wire().done.get_or_insert_with(|| clock.now());
    // There may be a hundred thousand failures in a second, and what is told of one is masked.
    if ended.outcome != Outcome::Accepted && !step.has_been_said(ended) {
        match &sent {
            Ok(()) if answer.body.is_empty() || judges(answer.status.as_u16()) => {}
            Ok(()) => tell_said(step, &answer.body, &secrets()),
            Err(failure) => {
                // A dial that fails may be that of another one, after a connection that was found closed.
                let of_connection = answer.wire.peer.filter(|_| !failure.kind.is_of_dial());
                tell_failed(step, failure, of_connection.or(answer.peer), &secrets());
            }
        }
    }
    sent.map_err(|_| ended)
}

/// What the status of an answer says where a protocol knows no success but `200`; the step ends so.
///
/// # Errors
/// How the operation ends.
pub fn expect_ok(step: &mut StepGuard<'_>, answer: &Answer) -> Result<(), Ended> {
    let ended = match answer.status.as_u16() {
        200 => return Ok(()),
        status => match Ended::of_status(status) {
            Ended { outcome: Outcome::Accepted, .. } => {
                Ended::failed(Outcome::Malformed, "success that is not 200")
            }
            ended => ended,
        },
    };
    step.ends(ended);
    Err(ended)
}
