//! What a login promises: that who signed is who is let in, and that what was signed is of this login alone.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::promise::{Fault, PromiseKind, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_tlog::encoding::from_base64;
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::certificate::Certificate;
use serde::Deserialize;
use serde_json::Value;

use crate::signer::Signer;

/// What judges logins: who signs in order, and the nonces that were seen in the run.
#[derive(Debug, Clone)]
pub(crate) struct LoginJudge {
    signers: Arc<[Arc<Signer>]>,
    nonces: Arc<Mutex<SeenNonces>>,
}

/// A login that was accepted: its signer's place, the nonce, and the answer that let it in.
pub(crate) struct LoginRecord<'a> {
    pub(crate) signer: u32,
    pub(crate) nonce: &'a [u8],
    pub(crate) answer: &'a [u8],
}

/// The nonces of the last logins: the latest [`NONCES`] at least, and twice as many at most.
#[derive(Debug, Default)]
struct SeenNonces {
    latest: HashSet<[u8; 16]>,
    before: HashSet<[u8; 16]>,
}

/// The certificate that was let in (restpki-client 1.3.1, `CertificateModel`), as far as it says which one it is.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CertificateModel<'a> {
    serial_number: Value,
    #[serde(borrow, rename = "binaryThumbprintSHA256")]
    thumbprint: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct LoginModel<'a> {
    #[serde(borrow, default)]
    certificate: Option<CertificateModel<'a>>,
}

impl LoginJudge {
    pub(crate) fn new(signers: &[Arc<Signer>]) -> Self {
        Self { signers: signers.into(), nonces: Arc::default() }
    }

    /// Whether a login is what it should be.
    fn judge(&self, login: &LoginRecord<'_>) -> Result<(), LoginFault> {
        if login.nonce.len() < LEAST_NONCE {
            return Err(LoginFault::ShortNonce(login.nonce.len()));
        }
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        if !nonces.insert(login.nonce) {
            return Err(LoginFault::RepeatedNonce);
        }
        drop(nonces);
        let model: LoginModel<'_> =
            serde_json::from_slice(login.answer).map_err(|_| LoginFault::NoCertificate)?;
        let certificate = model.certificate.ok_or(LoginFault::NoCertificate)?;
        certificate.check(self.signers[login.signer as usize].key.certificate())
    }
}

impl Verifier for LoginJudge {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        // Records are this file's own.
        let Some(login) = LoginRecord::read(record) else { return };
        match self.judge(&login) {
            Ok(()) => verdicts.kept(LOGIN),
            Err(LoginFault::NoCertificate) => {
                verdicts.unverified(LOGIN, &LoginFault::NoCertificate.to_string());
            }
            Err(why) => verdicts.broken(LOGIN, seq, Fault::new(why.kind(), why.to_string()), Some(record)),
        }
    }
}

/// Why a login is not what it should be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum LoginFault {
    #[error("the answer does not say whose certificate was let in")]
    NoCertificate,
    #[error("the certificate that was let in has the {what} {said}, and the signer's has {own}")]
    AnotherCertificate { what: &'static str, said: String, own: String },
    #[error("the nonce was given to a login before")]
    RepeatedNonce,
    #[error("the nonce has {0} bytes, which can be guessed")]
    ShortNonce(usize),
}

impl LoginFault {
    const fn kind(&self) -> &'static str {
        match self {
            Self::NoCertificate => "no-certificate",
            Self::AnotherCertificate { .. } => "another-certificate",
            Self::RepeatedNonce => "repeated-nonce",
            Self::ShortNonce(_) => "short-nonce",
        }
    }
}

impl<'a> LoginRecord<'a> {
    /// As bytes: the place and the nonce's length as four bytes each, the nonce, and the answer.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend_from_slice(&self.signer.to_be_bytes());
        bytes.extend_from_slice(&(self.nonce.len() as u32).to_be_bytes());
        bytes.extend_from_slice(self.nonce);
        bytes.extend_from_slice(self.answer);
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (signer, rest) = bytes.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (nonce, answer) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        Some(Self { signer: u32::from_be_bytes(*signer), nonce, answer })
    }
}

impl SeenNonces {
    /// Whether it is one that was not seen.
    fn insert(&mut self, nonce: &[u8]) -> bool {
        let mut short = [0; 16];
        short.copy_from_slice(&sha256(nonce).0[..16]);
        if self.before.contains(&short) || !self.latest.insert(short) {
            return false;
        }
        if self.latest.len() == NONCES {
            self.before = std::mem::take(&mut self.latest);
        }
        true
    }
}

impl CertificateModel<'_> {
    /// Whether it is that certificate, by all that it says.
    fn check(&self, der: &[u8]) -> Result<(), LoginFault> {
        let mut is_named = false;
        if let Some(thumbprint) = self.thumbprint.as_deref().filter(|text| !text.is_empty()) {
            let own = sha256(der).0;
            if from_base64(thumbprint).ok().as_deref() != Some(own.as_slice()) {
                let (what, said) = ("SHA-256 thumbprint", thumbprint.to_owned());
                let own = hammer_tlog::encoding::base64(&own);
                return Err(LoginFault::AnotherCertificate { what, said, own });
            }
            is_named = true;
        }
        let said = match &self.serial_number {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let serial = Certificate::parse(der).map_err(|_| LoginFault::NoCertificate)?.serial;
        if !said.is_empty() {
            // The vendor's clients read a decimal number; other tools write serial numbers in hexadecimal digits.
            let own = without_zeros(serial);
            let hexadecimal = said.trim_start_matches("0x").replace([':', ' '], "");
            if digits(&said, 10).as_deref() != Some(own) && digits(&hexadecimal, 16).as_deref() != Some(own) {
                let own = serial.iter().map(|byte| format!("{byte:02x}")).collect();
                return Err(LoginFault::AnotherCertificate { what: "serial number", said, own });
            }
            is_named = true;
        }
        if is_named { Ok(()) } else { Err(LoginFault::NoCertificate) }
    }
}

/// The number of those digits, big-endian and without leading zeros; none of what is no number, or longer than a serial number can be (RFC 5280
/// section 4.1.2.2).
fn digits(text: &str, base: u32) -> Option<Vec<u8>> {
    if text.len() > MOST_DIGITS {
        return None;
    }
    let mut number = vec![0u8; MOST_DIGITS];
    for digit in text.chars() {
        let mut carry = digit.to_digit(base)?;
        for byte in number.iter_mut().rev() {
            let product = u32::from(*byte) * base + carry;
            *byte = (product & 0xff) as u8;
            carry = product >> 8;
        }
    }
    Some(without_zeros(&number).to_vec())
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

/// The kind of promise.
pub(crate) const LOGIN: PromiseKind = PromiseKind(0);
/// Bytes: what is shorter comes again within the nonces of a busy day, and can be asked for until it does.
const LEAST_NONCE: usize = 8;
/// How many nonces are remembered: 16 MiB and a half of each generation.
const NONCES: usize = 1 << 19;
/// Decimal digits of 20 bytes are 49.
const MOST_DIGITS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PkiTargetPlan;
    use crate::signer_source::signers;

    fn judged(judge: &LoginJudge, nonce: &[u8], certificate: &Value) -> Result<(), LoginFault> {
        let answer = serde_json::json!({ "certificate": certificate, "validationResults": { "errors": [] } });
        let mut record = Vec::new();
        LoginRecord { signer: 1, nonce, answer: answer.to_string().as_bytes() }.write(&mut record);
        judge.judge(&LoginRecord::read(&record).unwrap())
    }

    fn nonce(number: u64) -> Vec<u8> {
        [number.to_be_bytes(), [7; 8]].concat()
    }

    #[test]
    fn who_is_let_in_is_held_against_who_signed_by_all_that_the_answer_says() {
        let made = signers(&PkiTargetPlan::default(), 1).unwrap();
        let judge = LoginJudge::new(&made);
        let serial = |place: usize| {
            let certificate = made[place].key.certificate().to_vec();
            Certificate::parse(&certificate).unwrap().serial.to_vec()
        };
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
        let decimal = |bytes: &[u8]| {
            let mut number = vec![0u8];
            for byte in bytes {
                let mut carry = u32::from(*byte);
                for digit in number.iter_mut().rev() {
                    let product = u32::from(*digit) * 256 + carry;
                    *digit = (product % 10) as u8;
                    carry = product / 10;
                }
                while carry > 0 {
                    number.insert(0, (carry % 10) as u8);
                    carry /= 10;
                }
            }
            number.iter().map(|digit| char::from(b'0' + digit)).collect::<String>()
        };
        let thumbprint =
            |place: usize| hammer_tlog::encoding::base64(&sha256(made[place].key.certificate()).0);
        let own = [
            serde_json::json!({ "serialNumber": decimal(&serial(1)) }),
            serde_json::json!({ "serialNumber": hex(&serial(1)) }),
            serde_json::json!({ "serialNumber": serial(1).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":") }),
            serde_json::json!({ "binaryThumbprintSHA256": thumbprint(1) }),
            serde_json::json!({ "serialNumber": decimal(&serial(1)), "binaryThumbprintSHA256": thumbprint(1) }),
        ];
        let others = [
            serde_json::json!({ "serialNumber": decimal(&serial(2)) }),
            serde_json::json!({ "serialNumber": 5 }),
            serde_json::json!({ "serialNumber": "9".repeat(1 << 20) }),
            serde_json::json!({ "binaryThumbprintSHA256": "no base64!" }),
            serde_json::json!({ "serialNumber": decimal(&serial(1)), "binaryThumbprintSHA256": thumbprint(2) }),
        ];
        let nameless = [Value::Null, serde_json::json!({}), serde_json::json!({ "serialNumber": null })];
        let mut numbers = 0..;
        let mut said = |model: &Value| judged(&judge, &nonce(numbers.next().unwrap()), model);
        for model in &own {
            assert_eq!(said(model), Ok(()), "{model}");
        }
        for model in &others {
            assert_eq!(said(model).unwrap_err().kind(), "another-certificate");
        }
        for model in &nameless {
            assert_eq!(said(model), Err(LoginFault::NoCertificate), "{model}");
        }
    }

    #[test]
    fn a_nonce_is_of_one_login_and_not_short() {
        let made = signers(&PkiTargetPlan::default(), 1).unwrap();
        let judge = LoginJudge::new(&made);
        let thumbprint = hammer_tlog::encoding::base64(&sha256(made[1].key.certificate()).0);
        let own = serde_json::json!({ "binaryThumbprintSHA256": thumbprint });
        assert_eq!(judged(&judge, &nonce(1), &own), Ok(()));
        assert_eq!(judged(&judge.clone(), &nonce(1), &own), Err(LoginFault::RepeatedNonce));
        assert_eq!(judged(&judge, &nonce(2), &own), Ok(()));
        assert_eq!(judged(&judge, &[1; 7], &own), Err(LoginFault::ShortNonce(7)));
        assert_eq!(judged(&judge, b"", &own), Err(LoginFault::ShortNonce(0)));
    }

    #[test]
    fn as_many_nonces_are_remembered_as_there_is_room_for() {
        let mut seen = SeenNonces::default();
        for number in 0..2 * NONCES as u64 {
            assert!(seen.insert(&nonce(number)));
        }
        assert!(!seen.insert(&nonce(NONCES as u64)) && seen.latest.len() + seen.before.len() <= 2 * NONCES);
        assert!(seen.insert(&nonce(0)));
    }
}
