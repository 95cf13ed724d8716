//! What the dashboard shows of HTTP.

use crate::tui::spec::{PagePart, ProtocolPage};

/// What users of an endpoint look for.
pub(super) const PAGE: ProtocolPage = ProtocolPage {
    name: "HTTP",
    parts: &[
        PagePart::Answers("How operations ended"),
        PagePart::Operations("Requests and flows"),
        PagePart::Steps("Steps of flows, and tokens"),
    ],
};
