//! A document in parts, ahead of the signature that names it: for Rest PKI's clients that of a large one.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_measure::Outcome;
use hammer_net::{BodyPart, Request};
use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderName, HeaderValue};

use super::session::SignSession;
use super::{SignOp, SignWorkload, UploadStep};
use crate::document_part::DocumentPart;
use crate::inline_document::InlineDocument;
use crate::json_request::{NO_PATH, ends, none, post, send};
use crate::rest_pki::{BegunUpload, UPLOADS, upload_end};

impl SignWorkload {
    /// Uploads a document; the token by which the service knows it then.
    pub(super) async fn upload(
        &self,
        session: &SignSession,
        op: &mut SignOp,
        document: Arc<InlineDocument>,
        record: &OperationRecord,
    ) -> Result<String, Ended> {
        let length = document.document().len();
        let mut step = record.step(self.upload_step(UploadStep::Begin));
        let path = session.client.path(&format!("/{UPLOADS}")).map_err(|_| NO_PATH)?;
        send(&session.client, &mut step, &post(path, ""), &mut op.answer).await?;
        let begun = BegunUpload::read(&op.answer.body, length)
            .map_err(|why| none(&session.client, &mut step, &why))?;
        drop(step);
        let mut etags = Vec::new();
        for (number, start) in (0..length).step_by(begun.part_size as usize).enumerate() {
            let range = start..length.min(start + begun.part_size);
            let part = (number, DocumentPart::new(document.clone(), range));
            etags.push(self.part(session, op, &begun.token, part, record).await?);
        }
        let mut step = record.step(self.upload_step(UploadStep::End));
        let path = session.client.path(&format!("/{UPLOADS}/{}", begun.token)).map_err(|_| NO_PATH)?;
        upload_end(&etags, &mut op.body);
        send(&session.client, &mut step, &post(path, op.body.clone()), &mut op.answer).await?;
        Ok(begun.token)
    }

    /// Uploads a part; its tag.
    async fn part(
        &self,
        session: &SignSession,
        op: &mut SignOp,
        token: &str,
        (number, part): (usize, DocumentPart),
        record: &OperationRecord,
    ) -> Result<String, Ended> {
        // The digest stands before what it is of, which is therefore made twice.
        let (part, md5) = record
            .compute(move || {
                let md5 = part.md5();
                (part, md5)
            })
            .await;
        let path = session.client.path(&format!("/{UPLOADS}/{token}/{number}")).map_err(|_| NO_PATH)?;
        let mut request = Request::post(path, BodyPart::Made(Arc::new(part))).keep_header(ETAG);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        // Base64 is of letters that a header may have.
        let digest = HeaderValue::try_from(BASE64_STANDARD.encode(md5));
        request.headers.insert(CONTENT_MD5, digest.map_err(|_| NO_PATH)?);
        let mut step = record.step(self.upload_step(UploadStep::Part));
        send(&session.client, &mut step, &request, &mut op.answer).await?;
        let etag = op.answer.headers.get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        etag.ok_or_else(|| ends(&mut step, NO_ETAG))
    }
}

/// RFC 1864.
const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");
const NO_ETAG: Ended = Ended::failed(Outcome::Malformed, "part without an ETag");
