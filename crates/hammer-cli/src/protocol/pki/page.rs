//! What the dashboard shows of signature services.

use crate::tui::spec::{PageNumber, PagePart, ProtocolPage};

/// What users of a signature service look for.
pub(super) const PAGE: ProtocolPage = ProtocolPage {
    name: "Signatures",
    parts: &[
        PagePart::Operations("Files by kind, validations, logins, timestamps"),
        PagePart::Promises("Files that came back, verified"),
        PagePart::Numbers(
            "Verification here",
            &[
                PageNumber::count("files that wait for it", "files_waiting"),
                PageNumber::bytes("of them in temporary files", "files_waiting_bytes"),
            ],
        ),
        PagePart::Steps("Steps: uploads, hashes, signatures, downloads"),
        PagePart::Answers("How operations ended"),
    ],
};
