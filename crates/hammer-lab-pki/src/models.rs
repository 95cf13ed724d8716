//! What the service answers (restpki-client 1.3.1).

use hammer_lab::serve::answer::{self, AnswerBody};
use hammer_tlog::encoding::base64;
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::certificate::Certificate;
use http::Response;
use serde_json::{Value, json};

/// What is to be signed, under that token.
pub(crate) fn started(token: &str, to_be_signed: &[u8]) -> Response<AnswerBody> {
    answer::json(
        json!({
            "token": token,
            "certificate": null,
            "toSignData": base64(to_be_signed),
            "toSignHash": base64(&sha256(to_be_signed).0),
            "digestAlgorithmOid": "2.16.840.1.101.3.4.2.1",
        })
        .to_string(),
    )
}

/// A file that was signed.
pub(crate) fn signed(file: &Value, callback: Option<&str>) -> Response<AnswerBody> {
    let body = json!({ "signatureFile": file, "certificate": null, "callbackArgument": callback });
    answer::json(body.to_string())
}

/// A file in an answer.
pub(crate) fn file(content: &[u8], mime_type: &str) -> Value {
    json!({ "mimeType": mime_type, "content": base64(content), "blobToken": null, "url": null })
}

/// A file that is fetched besides.
pub(crate) fn blob(token: &str, mime_type: &str) -> Value {
    let url = format!("Api/Blobs/{token}");
    json!({ "mimeType": mime_type, "content": null, "blobToken": token, "url": url })
}

/// A certificate that was shown, and what was found wrong with it: a success all the same.
pub(crate) fn unauthenticated(results: &Value) -> Response<AnswerBody> {
    answer::json(json!({ "certificate": null, "validationResults": results }).to_string())
}

/// A certificate that was shown, and what was found right of it.
pub(crate) fn authenticated(certificate: &Value) -> Response<AnswerBody> {
    let passed = ["Signature", "Chain", "Validity"].map(
        |message| json!({ "type": "Success", "message": message, "detail": null, "innerValidationResults": null }),
    );
    let results = json!({ "errors": [], "warnings": [], "passedChecks": passed });
    answer::json(json!({ "certificate": certificate, "validationResults": results }).to_string())
}

/// A certificate by its `CertificateModel`, as far as this service looks at it: its serial number and its SHA-256.
pub(crate) fn certificate(der: &[u8]) -> Value {
    let serial = Certificate::parse(der).map(|certificate| decimal(certificate.serial)).ok();
    json!({ "serialNumber": serial, "binaryThumbprintSHA256": base64(&sha256(der).0) })
}

/// The decimal digits of a big-endian number.
fn decimal(number: &[u8]) -> String {
    let mut digits = vec![0u32];
    for byte in number {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            let product = *digit * 256 + carry;
            (*digit, carry) = (product % 10, product / 10);
        }
        while carry > 0 {
            digits.push(carry % 10);
            carry /= 10;
        }
    }
    digits.iter().rev().filter_map(|digit| char::from_digit(*digit, 10)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serial_number_is_written_as_the_decimal_number_that_it_is() {
        let of = [decimal(&[]), decimal(&[0]), decimal(&[1, 0]), decimal(&[0, 0xff, 0xff, 0xff, 0xff, 0xff])];
        assert_eq!(of, ["0", "0", "256", "1099511627775"]);
    }
}
