//! Signed files that callers have validated.

use bytes::Bytes;
use hammer_lab::lie_rule::LieRecord;
use hammer_lab::serve::answer;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{AskedFile, AskedHash, read};
use crate::plan::PkiLieKind;
use crate::refusal::Refusal;
use crate::service::{Answered, CADES_POLICIES, PADES_POLICIES, PkiService, policy, sha256_of};
use crate::validation::{ValidatedSigner, ValidationTerms, of_cms, of_pdf};

/// A file that is to be opened (restpki-client 1.3.1, `SignatureExplorer`).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AskedOpening {
    file: Option<AskedFile>,
    validate: bool,
    default_signature_policy_id: Option<String>,
    data_hashes: Option<Vec<AskedHash>>,
}

impl PkiService {
    /// What is wrong with the signatures of a file.
    pub(crate) async fn open(&self, body: &Bytes, is_pdf: bool) -> Answered {
        let asked: AskedOpening = read(body)?;
        let policies: &[(&str, bool)] = if is_pdf { &PADES_POLICIES } else { &CADES_POLICIES };
        let needs_timestamp =
            asked.default_signature_policy_id.map(|id| policy(policies, &id)).transpose()?;
        let file = self.file(asked.file)?;
        let hash = asked.data_hashes.as_deref().map(sha256_of).transpose()?;
        let terms = self.terms(needs_timestamp.unwrap_or_default());
        let signers = match is_pdf {
            true => of_pdf(&file, terms),
            false => of_cms(&file, hash.as_deref(), terms),
        };
        let code = if is_pdf { "InvalidPdf" } else { "InvalidCms" };
        let mut signers = signers.map_err(|why| Refusal::code(code, &why.to_string()))?;
        if asked.validate {
            self.check_revocation(&mut signers).await;
        }
        let lie = asked.validate.then(|| self.lie_of(&mut signers)).flatten();
        if let Some(kind) = lie {
            let serial = String::new();
            self.lies.tell(LieRecord { kind, subject: "a signed file".to_owned(), serial });
        }
        Ok(answer::json(opened(&signers, asked.validate, is_pdf, hash.is_none()).to_string()))
    }

    /// Notes whose certificate was revoked, or may have been.
    async fn check_revocation(&self, signers: &mut [ValidatedSigner]) {
        for signer in signers {
            let Some(caller) = signer.caller.take() else { continue };
            if let Some(fault) = self.revocation_fault(&caller).await {
                signer.errors.push((fault.kind(), "Revocation"));
            }
        }
    }

    fn terms(&self, needs_timestamp: bool) -> ValidationTerms<'_> {
        let now = self.clock.unix_ms() / 1000;
        ValidationTerms { trusted: self.trusted.as_ref(), now, needs_timestamp }
    }

    /// Says of the signers what a lie has it say, where one is to be told.
    fn lie_of(&self, signers: &mut [ValidatedSigner]) -> Option<PkiLieKind> {
        let is_valid = !signers.is_empty() && signers.iter().all(ValidatedSigner::is_valid);
        let can_be_told = |kind: PkiLieKind| match kind {
            PkiLieKind::AcceptsAltered => !is_valid && !signers.is_empty(),
            PkiLieKind::RefusesValid => is_valid,
            _ => false,
        };
        let kind = self.lies.next_of(self.clock.elapsed(), can_be_told)?;
        match (kind, signers.first_mut()) {
            (PkiLieKind::RefusesValid, Some(first)) => {
                first.errors.push(("SignatureAlgorithmValidationFailed", "Signature"));
            }
            _ => signers.iter_mut().for_each(|signer| signer.errors.clear()),
        }
        Some(kind)
    }
}

/// As an answer has it.
fn opened(signers: &[ValidatedSigner], is_validated: bool, is_pdf: bool, has_content: bool) -> Value {
    let model = |signer: &ValidatedSigner| {
        let mut model = signer.model();
        if !is_validated {
            model["validationResults"] = Value::Null;
        }
        if is_pdf {
            model["isDocumentTimestamp"] = json!(false);
        }
        model
    };
    let mut answer = json!({ "signers": signers.iter().map(model).collect::<Vec<_>>() });
    if !is_pdf {
        answer["encapsulatedContentType"] = json!("Data");
        answer["hasEncapsulatedContent"] = json!(has_content);
    }
    answer
}
