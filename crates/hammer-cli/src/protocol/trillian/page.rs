//! What the dashboard shows of Trillian.

use crate::tui::spec::{PagePart, ProtocolPage};

/// What users of a log server look for.
pub(super) const PAGE: ProtocolPage = ProtocolPage {
    name: "Trillian",
    parts: &[
        PagePart::Operations("Calls: leaves queued, proofs, roots"),
        PagePart::Promises("Promises: roots and proofs, verified"),
        PagePart::Answers("Calls by status"),
    ],
};
