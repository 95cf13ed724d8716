//! One exchange, told to its step: from net's words to the engine's.

use hammer_core::record::{Exchange, StepGuard};
use hammer_core::workload::Ended;
use hammer_measure::{Now, Outcome};
use hammer_net::{Answer, Failure};

/// A request under way in a step. However it ends, the step knows what came over the wire until then: this writes it down when it
/// is dropped, which is before the step itself is.
struct Sending<'a, 'r> {
    step: &'a mut StepGuard<'r>,
    answer: &'a mut Answer,
}

impl Drop for Sending<'_, '_> {
    fn drop(&mut self) {
        let Answer { wire, bytes_out, bytes_in, resent, redialled, .. } = &*self.answer;
        *self.step.wire() = Exchange {
            sent: wire.sent,
            done: wire.done,
            read: wire.read,
            bytes_out: *bytes_out,
            bytes_in: *bytes_in,
            resent: *resent,
            redialled: *redialled,
        };
    }
}

/// Has `send` fill `answer`, as `step`. The step ends as the status says, unless the caller finds out more and says so before it drops
/// the guard; a caller that is dropped halfway leaves a step with the instants and bytes until then.
///
/// # Errors
/// How the operation ends that got no answer.
pub async fn exchange(
    step: &mut StepGuard<'_>,
    answer: &mut Answer,
    clock: &dyn Now,
    send: impl AsyncFnOnce(&mut Answer) -> Result<(), Failure>,
) -> Result<(), Ended> {
    let sending = Sending { step, answer };
    let sent = send(&mut *sending.answer).await;
    let ended = match &sent {
        Ok(()) => Ended::of_status(sending.answer.status.as_u16()),
        Err(failure) => Ended { outcome: failure.kind.outcome(), detail: failure.kind.into() },
    };
    drop(sending);
    step.ends(ended);
    // A failure, unlike an answer, is not stamped by the connection.
    step.wire().done.get_or_insert_with(|| clock.now());
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
