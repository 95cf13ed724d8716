//! Whether a log refused what it must refuse, and took what it says that it takes.

use hammer_core::promise::Fault;

use crate::record::Judged;

pub(super) fn judge(Judged { kind, refuse, status }: Judged) -> Result<(), Fault> {
    let (name, accepted) = (kind.name(), status == 200);
    let by = if kind.is_always() { "every log" } else { "the stated policy" };
    match (accepted, refuse) {
        (true, true) => {
            Err(Fault::new(ACCEPTED_INVALID, format!("{name}: HTTP {status} for what {by} refuses")))
        }
        (false, false) => {
            Err(Fault::new(REFUSED_ALLOWED, format!("{name}: HTTP {status} for what {by} allows")))
        }
        _ => Ok(()),
    }
}

const ACCEPTED_INVALID: &str = "accepted-invalid";
const REFUSED_ALLOWED: &str = "refused-allowed";
