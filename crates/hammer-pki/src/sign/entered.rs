//! A document that a user has signed as it enters, to keep the file.

use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_measure::Outcome;

use super::session::SignSession;
use super::{SignOp, SignWorkload};
use crate::inline_document::InlineDocument;
use crate::record::{RecordedFile, SignatureRecord};

impl SignWorkload {
    /// The file of the document of that number, signed as the kind of that series: one that holds, as this crate's own judge says.
    pub(crate) async fn entered(
        &self,
        session: &SignSession,
        (number, series): (u64, usize),
        record: &OperationRecord,
    ) -> Result<Vec<u8>, Ended> {
        let document = Some(Arc::new(InlineDocument::new(self.config.documents.document(number))));
        let mut op = SignOp { seq: number, series, document, ..SignOp::default() };
        let (sent, file) = self.signed_file(session, &mut op, record).await?;
        let told = self.record(session, &op, sent, RecordedFile::Kept(None));
        let judge = self.config.judge.clone();
        // It may be of 50 MB.
        let judged = record.compute(move || {
            let file = file.into_bytes().map_err(|_| UNREAD)?;
            let told = SignatureRecord { file: RecordedFile::Here(&file), ..told };
            judge.hold(number, &told).map_err(|why| why.ended())?;
            Ok(file)
        });
        judged.await
    }
}

const UNREAD: Ended = Ended::failed(Outcome::Unreachable, "no room for the answer");
