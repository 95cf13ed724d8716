//! Answers that do not even have the form of what was promised, and such as are by something that is not verified here.

use hammer_cms::timestamp::TimestampFault;
use hammer_core::promise::Fault;
use hammer_read::{UNVERIFIED, unverified_since};
use hammer_tlog::keys::chain::ChainError;
use hammer_tlog::keys::key::KeyError;

use crate::logged::UnreadEntry;
use crate::trust::Trust;

/// An answer that has not even the form of what was promised.
pub(crate) const MALFORMED: &str = "malformed-answer";
/// A timestamp whose issuer may be known to a root that is trusted, as no intermediate certificate is.
const INTERMEDIATE: &str = "timestamp-intermediate";

/// What is wrong with the form.
pub(crate) fn malformed(detail: impl Into<String>) -> Fault {
    Fault::new(MALFORMED, detail)
}

/// Whether that is no fault, but a promise that could not be held against anything.
pub(crate) fn is_unverified(fault: &Fault) -> bool {
    fault.kind == UNVERIFIED
}

/// What `kind` calls it if it is to blame, and no fault where an algorithm is not verified here.
pub(super) fn fault_unless(is_unverified: bool, kind: &'static str, told: String) -> Fault {
    if is_unverified { unverified_since(told) } else { Fault::new(kind, told) }
}

/// What is wrong with a timestamp that is held to that trust: where no more than roots are trusted and none of them issued the certificates
/// that lead up, an intermediate certificate is what is missing, or all of it is another authority's.
pub(super) fn fault_of_timestamp(trust: &Trust, why: &TimestampFault) -> Fault {
    let fault = timestamp_fault(why);
    match why {
        TimestampFault::Untrusted(ChainError::Untrusted { .. }) if trust.has_timestamp_roots_alone() => {
            Fault { kind: INTERMEDIATE, ..fault }
        }
        _ => fault,
    }
}

/// What is wrong with a timestamp, or that its authority's algorithm is not verified here.
pub(super) fn timestamp_fault(why: &TimestampFault) -> Fault {
    fault_unless(why.is_unverified(), why.kind(), format!("failed to {why}"))
}

/// A key that cannot be read.
pub(super) fn unread_key(why: &KeyError) -> Fault {
    fault_unless(why.is_unknown(), MALFORMED, format!("failed to {why}"))
}

/// A path that does not lead to a trusted root.
pub(super) fn no_path(kind: &'static str, why: &ChainError) -> Fault {
    fault_unless(why.is_unverified(), kind, format!("failed to {why}"))
}

/// An entry that cannot be read.
pub(super) fn unread_entry(why: UnreadEntry) -> Fault {
    match why {
        UnreadEntry::Malformed(why) => malformed(why),
        UnreadEntry::Unknown(why) => unverified_since(why),
    }
}

/// Something of a log whose key is trusted, and of an algorithm that is not verified here.
pub(super) fn unread_log(told: &str) -> Fault {
    unverified_since(format!("{told}, whose key is of an algorithm that is not verified here"))
}
