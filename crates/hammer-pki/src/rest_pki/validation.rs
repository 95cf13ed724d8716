//! Validation of a signed file (`Open`).

use std::borrow::Cow;

use bytes::Bytes;
use hammer_net::{Body, BodyPart};
use serde::Deserialize;
use serde_json::json;

use super::answers::ResultsModel;
use super::requests::{BEHIND_CONTENT, policy};
use crate::answer_fault::AnswerFault;
use crate::signature_kind::SignatureKind;
use crate::signed_file_form::SignedFileForm;
use crate::verdict::Verdict;

/// Where a signed file of that form is validated.
pub const fn open(form: SignedFileForm) -> &'static str {
    match form {
        SignedFileForm::Cades => "Api/CadesSignatures/Open",
        SignedFileForm::Pades => "Api/PadesSignatures/Open",
    }
}

/// What asks for validations of files of one form: all but the file (restpki-client 1.3.1, `SignatureExplorer`).
#[derive(Debug, Clone)]
pub struct OpenRequest {
    before: Bytes,
}

impl OpenRequest {
    /// That by a security context, where the plan names one.
    pub fn new(form: SignedFileForm, security_context: Option<&str>) -> Self {
        let (kind, mime_type) = match form {
            SignedFileForm::Cades => (SignatureKind::Cades, "application/pkcs7-signature"),
            SignedFileForm::Pades => (SignatureKind::Pades, "application/pdf"),
        };
        let mut asked = json!({
            "validate": true,
            "defaultSignaturePolicyId": policy(kind),
            "securityContextId": security_context,
            "ignoreRevocationStatusUnknown": false,
        });
        if form == SignedFileForm::Cades {
            asked["dataHashes"] = json!(null);
            asked["extractEncapsulatedContent"] = json!(false);
        }
        let asked = asked.to_string();
        let open = asked.strip_suffix('}').unwrap_or_default();
        Self { before: format!(r#"{open},"file":{{"mimeType":"{mime_type}","content":""#).into() }
    }

    /// The body with a file in base64.
    pub fn body(&self, base64: Vec<BodyPart>) -> Body {
        Body::rope([self.before.clone().into()].into_iter().chain(base64).chain([BEHIND_CONTENT.into()]))
    }
}

#[derive(Deserialize)]
struct OpenedModel<'a> {
    #[serde(borrow)]
    signers: Option<Vec<SignerModel<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignerModel<'a> {
    validation_results: Option<ResultsModel>,
    #[serde(borrow, default)]
    signature_field_name: Option<Cow<'a, str>>,
}

/// What the service says of a file: it is valid where no signer has an error.
///
/// # Errors
/// What is not of that form, or has not been validated.
pub fn verdict(body: &[u8]) -> Result<Verdict, AnswerFault> {
    let model: OpenedModel<'_> = serde_json::from_str(std::str::from_utf8(body)?)?;
    let signers = model.signers.ok_or(AnswerFault::Missing("signers"))?;
    let verdicts: Result<Vec<Verdict>, _> = signers.into_iter().map(verdict_of_signer).collect();
    verdicts.map(Verdict::of_all)
}

fn verdict_of_signer(signer: SignerModel<'_>) -> Result<Verdict, AnswerFault> {
    let results = signer.validation_results.ok_or(AnswerFault::Missing("validationResults"))?;
    let Some(first) = results.errors.into_iter().next() else { return Ok(Verdict::Valid) };
    let field = signer.signature_field_name.map_or_else(String::new, |field| format!(" of {field}"));
    let message = first.message.map_or_else(String::new, |message| format!(" ({message})"));
    Ok(Verdict::Invalid(format!("{}{field}{message}", first.kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_valid_where_no_signer_has_an_error() {
        let passed = r#"{"validationResults":{"errors":[],"warnings":[],"passedChecks":[]}}"#;
        let failed = r#"{"signatureFieldName":"S1","validationResults":{"errors":[{"type":"MessageDigestMismatch","message":"no"}]}}"#;
        let said = |signers: &str| verdict(format!(r#"{{"signers":[{signers}]}}"#).as_bytes());
        assert_eq!(said(passed).unwrap(), Verdict::Valid);
        let invalid = Verdict::Invalid("MessageDigestMismatch of S1 (no)".to_owned());
        assert_eq!(said(&format!("{passed},{failed}")).unwrap(), invalid);
        assert_eq!(said("").unwrap(), Verdict::Invalid("it finds no signature".to_owned()));
        assert!(matches!(
            said(r#"{"validationResults":null}"#),
            Err(AnswerFault::Missing("validationResults"))
        ));
        assert!(matches!(verdict(b"{}"), Err(AnswerFault::Missing("signers"))));
        assert!(matches!(verdict(b"[]"), Err(AnswerFault::Json(_))));
    }

    #[test]
    fn a_request_asks_for_a_validation_by_the_policy_of_its_form() {
        for (form, asked_by) in [(SignedFileForm::Cades, "a4522485"), (SignedFileForm::Pades, "78d20b33")] {
            let body = OpenRequest::new(form, Some("context")).body(vec!["QUJD".into()]);
            let asked: serde_json::Value = serde_json::from_slice(&body.to_bytes()).unwrap();
            assert_eq!((&asked["validate"], &asked["securityContextId"]), (&json!(true), &json!("context")));
            assert!(asked["defaultSignaturePolicyId"].as_str().unwrap().starts_with(asked_by));
            assert_eq!(asked["file"]["content"], "QUJD");
            assert_eq!(asked.get("dataHashes").is_some(), form == SignedFileForm::Cades);
        }
    }
}
