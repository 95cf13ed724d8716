//! Validation of a signed file (dss-validation-rest 6.4, `validateSignature`).

use std::borrow::Cow;

use hammer_net::{Body, BodyPart};
use serde::Deserialize;

use crate::answer_fault::AnswerFault;
use crate::signed_file_form::SignedFileForm;
use crate::verdict::Verdict;

/// Where a signed file is validated.
pub const VALIDATE_SIGNATURE: &str = "validation/validateSignature";

/// The body that has a file in base64 validated by the policy of the service.
pub fn validate_signature(form: SignedFileForm, base64: Vec<BodyPart>) -> Body {
    let behind = match form {
        SignedFileForm::Cades => BEHIND_CMS,
        SignedFileForm::Pades => BEHIND_PDF,
    };
    Body::rope([BodyPart::from(BEFORE)].into_iter().chain(base64).chain([behind.into()]))
}

#[derive(Deserialize)]
struct ReportsModel<'a> {
    #[serde(borrow, rename = "SimpleReport", alias = "simpleReport")]
    simple_report: Option<SimpleReport<'a>>,
}

#[derive(Deserialize)]
struct SimpleReport<'a> {
    /// The second name is that of DSS before 5.13, which knew no records of evidence.
    #[serde(
        borrow,
        default,
        rename = "signatureOrTimestampOrEvidenceRecord",
        alias = "signatureOrTimestamp"
    )]
    tokens: Option<Vec<ReportedToken<'a>>>,
}

/// One of a signature, a timestamp and a record of evidence.
#[derive(Deserialize)]
struct ReportedToken<'a> {
    #[serde(borrow, default, rename = "Signature", alias = "signature")]
    signature: Option<Conclusion<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Conclusion<'a> {
    #[serde(borrow, default, alias = "indication")]
    indication: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "subIndication")]
    sub_indication: Option<Cow<'a, str>>,
}

/// What the service says of a file: TOTAL_PASSED, TOTAL_FAILED or INDETERMINATE of each signature in it (ETSI EN 319 102-1 section 5.1.3).
///
/// # Errors
/// What is not of that form.
pub fn verdict(body: &[u8]) -> Result<Verdict, AnswerFault> {
    let model: ReportsModel<'_> = serde_json::from_str(std::str::from_utf8(body)?)?;
    let report = model.simple_report.ok_or(AnswerFault::Missing("SimpleReport"))?;
    let tokens = report.tokens.ok_or(AnswerFault::Missing("signatureOrTimestampOrEvidenceRecord"))?;
    let signatures = tokens.into_iter().filter_map(|token| token.signature);
    let verdicts: Result<Vec<Verdict>, _> = signatures.map(|signature| verdict_of(&signature)).collect();
    verdicts.map(Verdict::of_all)
}

fn verdict_of(conclusion: &Conclusion<'_>) -> Result<Verdict, AnswerFault> {
    let why = || conclusion.sub_indication.as_deref().unwrap_or("no SubIndication").to_owned();
    match conclusion.indication.as_deref() {
        Some("TOTAL_PASSED") => Ok(Verdict::Valid),
        Some("TOTAL_FAILED") => Ok(Verdict::Invalid(why())),
        Some("INDETERMINATE") => Ok(Verdict::Indeterminate(why())),
        Some(_) => Err(AnswerFault::Unusable("Indication is none of the three")),
        None => Err(AnswerFault::Missing("Indication")),
    }
}

const BEFORE: &str =
    r#"{"originalDocuments":[],"policy":null,"signatureId":null,"signedDocument":{"bytes":""#;
const BEHIND_CMS: &str = r#"","digestAlgorithm":null,"name":"document.p7s"}}"#;
const BEHIND_PDF: &str = r#"","digestAlgorithm":null,"name":"document.pdf"}}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_the_worst_of_its_signatures_is() {
        let signature = |indication: &str, sub: &str| {
            format!(r#"{{"Signature":{{"Indication":"{indication}","SubIndication":{sub}}}}}"#)
        };
        let passed = signature("TOTAL_PASSED", "null");
        let failed = signature("TOTAL_FAILED", r#""HASH_FAILURE""#);
        let neither = signature("INDETERMINATE", r#""NO_CERTIFICATE_CHAIN_FOUND""#);
        let timestamp = r#"{"Timestamp":{"Indication":"FAILED"}}"#;
        let said = |tokens: &[&str]| {
            let tokens = tokens.join(",");
            let report = format!(
                r#"{{"DiagnosticData":{{}},"SimpleReport":{{"signatureOrTimestampOrEvidenceRecord":[{tokens}]}}}}"#
            );
            verdict(report.as_bytes())
        };
        assert_eq!(said(&[&passed, timestamp]).unwrap(), Verdict::Valid);
        let lacks = Verdict::Indeterminate("NO_CERTIFICATE_CHAIN_FOUND".to_owned());
        assert_eq!(said(&[&neither, &passed]).unwrap(), lacks);
        assert_eq!(said(&[&neither, &failed]).unwrap(), Verdict::Invalid("HASH_FAILURE".to_owned()));
        assert_eq!(said(&[timestamp]).unwrap(), Verdict::Invalid("it finds no signature".to_owned()));
        assert!(matches!(said(&[&signature("PASSED", "null")]), Err(AnswerFault::Unusable(_))));
        assert!(matches!(said(&[r#"{"Signature":{}}"#]), Err(AnswerFault::Missing("Indication"))));
        let before =
            r#"{"simpleReport":{"signatureOrTimestamp":[{"signature":{"indication":"TOTAL_PASSED"}}]}}"#;
        assert_eq!(verdict(before.as_bytes()).unwrap(), Verdict::Valid);
        assert!(matches!(verdict(br#"{"SimpleReport":{}}"#), Err(AnswerFault::Missing(_))));
        assert!(matches!(verdict(b"{}"), Err(AnswerFault::Missing("SimpleReport"))));
    }

    #[test]
    fn a_request_has_the_file_and_the_policy_of_the_service() {
        let body = validate_signature(SignedFileForm::Pades, vec!["QUJD".into()]);
        let asked: serde_json::Value = serde_json::from_slice(&body.to_bytes()).unwrap();
        let expected = serde_json::json!({
            "originalDocuments": [],
            "policy": null,
            "signatureId": null,
            "signedDocument": { "bytes": "QUJD", "digestAlgorithm": null, "name": "document.pdf" },
        });
        assert_eq!(asked, expected);
    }
}
