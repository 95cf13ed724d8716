//! Judges files beside the load: whether they are the documents that were sent, signed by whom they were to be, as was asked for.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use hammer_cms::ber;
use hammer_cms::signature::{ExpectedSignature, KnownSigner, SignatureForm, SignatureVerifier};
use hammer_cms::signed_data::SignedData;
use hammer_core::promise::{Fault, PromiseKind, Verdicts, Verifier};
use hammer_core::workload::Ended;
use hammer_measure::{Nanos, Outcome};
use hammer_pdf::signed::PdfSignature;
use hammer_tlog::keys::chain::TrustedAuthorities;

use crate::documents::{Documents, finished};
use crate::kept_files::KeptFiles;
use crate::record::{RecordedFile, SignatureRecord};
use crate::signature_kind::SignatureKind;

/// What verifiers of a workload are made from, one for each thread.
#[derive(Clone)]
pub struct SignatureJudge {
    /// What was sent.
    pub documents: Documents,
    /// Large files that came back.
    pub kept_files: Arc<KeptFiles>,
    /// Who signs, in order.
    pub signers: Arc<[KnownSigner]>,
    /// Who is trusted with timestamps.
    pub timestamps: Option<TrustedAuthorities>,
    /// The wall clock at the start of the run, in milliseconds since 1970.
    pub epoch_unix_ms: u64,
    /// By how much the service's clock may differ from ours, in milliseconds.
    pub skew_ms: u64,
}

/// Judges on a thread of its own.
struct FileVerifier {
    judge: SignatureJudge,
    verifier: SignatureVerifier,
}

impl From<SignatureKind> for PromiseKind {
    fn from(kind: SignatureKind) -> Self {
        Self(kind as u8)
    }
}

impl SignatureJudge {
    pub(crate) fn verifier(&self) -> Box<dyn Verifier> {
        Box::new(self.file_verifier())
    }

    /// Whether a file holds that was signed before the load.
    pub(crate) fn hold(&self, seq: u64, record: &SignatureRecord<'_>) -> Result<(), NotKept> {
        self.file_verifier().judge(seq, record)
    }

    fn file_verifier(&self) -> FileVerifier {
        let verifier = SignatureVerifier::new(self.timestamps.clone());
        FileVerifier { judge: self.clone(), verifier }
    }

    /// The wall clock at an instant of the run, milliseconds since 1970.
    fn unix_ms(&self, at: Nanos) -> u64 {
        self.epoch_unix_ms.saturating_add(at.0 / 1_000_000)
    }
}

/// Why a promise is not kept.
pub(crate) enum NotKept {
    /// It cannot be held against anything here.
    Unverified(String),
    Broken(Fault),
}

impl NotKept {
    fn new(is_unverified: bool, kind: &'static str, why: &impl fmt::Display) -> Self {
        let detail = format!("failed to {why}");
        if is_unverified { Self::Unverified(detail) } else { Self::Broken(Fault::new(kind, detail)) }
    }

    /// How a user enters whose file is not kept.
    pub(crate) fn ended(&self) -> Ended {
        let cause = match self {
            Self::Unverified(_) => "signed file that cannot be verified",
            Self::Broken(Fault { kind, .. }) => kind,
        };
        Ended::failed(Outcome::Malformed, cause)
    }
}

impl FileVerifier {
    /// Judges a file where it is.
    fn judge(&mut self, seq: u64, record: &SignatureRecord<'_>) -> Result<(), NotKept> {
        match record.file {
            RecordedFile::Here(file) => self.judge_file(seq, record, file),
            RecordedFile::Kept(Some(number)) => {
                let kept = Arc::clone(&self.judge.kept_files);
                let judged = kept.verify(number, |file| self.judge_file(seq, record, file));
                judged.unwrap_or_else(|why| {
                    Err(NotKept::Unverified(format!("failed to read a file back: {why}")))
                })
            }
            RecordedFile::Kept(None) => Err(NotKept::Unverified(NO_ROOM.to_owned())),
        }
    }

    fn judge_file(&mut self, seq: u64, record: &SignatureRecord<'_>, file: &[u8]) -> Result<(), NotKept> {
        let judge = &self.judge;
        let unknown = || NotKept::Broken(Fault::new(UNKNOWN_SIGNER, "no such signer"));
        let signer = judge.signers.get(record.signer as usize).ok_or_else(unknown)?;
        let document = judge.documents.document(seq);
        let skew = judge.skew_ms;
        let expected = |document, form| ExpectedSignature {
            document,
            signer,
            form,
            has_timestamp: record.kind.has_timestamp(),
            not_before_ms: i64::try_from(judge.unix_ms(record.sent).saturating_sub(skew)).ok(),
            not_after_ms: i64::try_from(judge.unix_ms(record.received).saturating_add(skew)).ok(),
        };
        let verified = if record.kind.is_pdf() {
            let found = PdfSignature::read(file, &document)
                .map_err(|why| NotKept::new(why.is_unverified(), why.kind(), &why))?;
            let signed = found.signed(file);
            // It starts with what was sent, as was just read.
            let mut hashed = judge.documents.hash(&document);
            hashed.update(&signed[0][document.len() as usize..]);
            hashed.update(signed[1]);
            let cms = ber::to_der(&found.contents);
            let expected = expected(&signed, SignatureForm::Pades);
            self.verifier.verify_hashed(&cms, &finished(hashed), &expected).map(drop)
        } else if let Some(sha256) = &record.sha256 {
            // Worked out of the document before any of it was sent.
            let expected = expected(&[], SignatureForm::CadesDetached);
            self.verifier.verify_digest(&ber::to_der(file), sha256, &expected).map(drop)
        } else {
            let cms = ber::to_der(file);
            let content = SignedData::parse(&cms).ok().and_then(|signed| signed.content);
            // What is in the file need not be made in memory once more, of whatever size it is. What is another document is held against the
            // whole of it, for the fault that it has.
            let of_file = content.filter(|content| document.is_whole(content)).map(Cow::Borrowed);
            let sent = of_file.unwrap_or_else(|| Cow::Owned(document.to_vec()));
            let sent: &[&[u8]] = &[&sent];
            let expected = expected(sent, SignatureForm::CadesEnveloping);
            let sha256 = judge.documents.sha256(&document);
            self.verifier.verify_hashed(&cms, &sha256, &expected).map(drop)
        };
        verified.map_err(|why| NotKept::new(why.is_unverified(), why.kind(), &why))
    }
}

impl Verifier for FileVerifier {
    fn check(&mut self, seq: u64, bytes: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        // Records are this crate's own.
        let Some(record) = SignatureRecord::read(bytes) else { return };
        match self.judge(seq, &record) {
            Ok(()) => verdicts.kept(record.kind.into()),
            Err(NotKept::Unverified(why)) => verdicts.unverified(record.kind.into(), &why),
            Err(NotKept::Broken(fault)) => {
                // One that was kept is gone, and too large to be shown.
                let shown = matches!(record.file, RecordedFile::Here(_)).then_some(bytes);
                verdicts.broken(record.kind.into(), seq, fault, shown);
            }
        }
    }
}

impl fmt::Debug for SignatureJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureJudge").field("signers", &self.signers.len()).finish_non_exhaustive()
    }
}

const NO_ROOM: &str = "more files waited for verification than there is room for";
const UNKNOWN_SIGNER: &str = "another-signer";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::DocumentLengths;
    use crate::plan::PkiTargetPlan;
    use crate::signer_source::{SignerIssuers, signers};

    /// A service that writes its revision in another way than is read here has broken nothing.
    #[test]
    fn a_document_whose_cross_references_became_a_stream_is_unverified_and_one_that_was_changed_is_broken() {
        let documents = Documents::new(1, 0, DocumentLengths::Of(2_000)).unwrap();
        let known = signers(&PkiTargetPlan::default(), 1, SignerIssuers::default()).unwrap().into_iter();
        let known = known.map(|signer| KnownSigner::new(signer.key.certificate().to_vec()).unwrap());
        let judge = SignatureJudge {
            documents: documents.clone(),
            kept_files: Arc::default(),
            signers: known.collect(),
            timestamps: None,
            epoch_unix_ms: 0,
            skew_ms: 0,
        };
        let mut verifier = judge.file_verifier();
        let mut file = documents.document(3).to_vec();
        let at = file.len();
        file.extend_from_slice(
            format!("11 0 obj\n<</Type/XRef>>\nendobj\nstartxref\n{at}\n%%EOF\n").as_bytes(),
        );
        let mut judged = |seq| {
            let record = SignatureRecord {
                kind: SignatureKind::Pades,
                sha256: None,
                signer: 0,
                sent: Nanos(0),
                received: Nanos(1),
                file: RecordedFile::Here(&file),
            };
            verifier.judge(seq, &record)
        };
        assert!(matches!(judged(3), Err(NotKept::Unverified(why)) if why.contains("are a stream")));
        assert!(matches!(judged(4), Err(NotKept::Broken(fault)) if fault.kind == "changed-document"));
    }
}
