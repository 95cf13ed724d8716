//! What a login promises: that who signed is who is let in, and that what was signed is of this login alone.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::promise::{Fault, PromiseKind, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_tlog::encoding::{base64, from_base64};
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::certificate::Certificate;
use serde::{Deserialize, Serialize};

use crate::signer::Signer;

/// What judges logins: who signs in order, and the nonces that were seen in the run.
#[derive(Debug, Clone)]
pub(crate) struct LoginJudge {
    signers: Arc<[Arc<Signer>]>,
    nonces: Arc<Mutex<SeenNonces>>,
}

/// A login that was accepted, without what else the answer said: it may repeat secrets that the service was sent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LoginRecord {
    /// The place of who signed.
    signer: usize,
    /// In base64.
    nonce: String,
    /// The serial number of the certificate that was let in, as the service wrote it.
    serial_number: Option<String>,
    /// The SHA-256 of that certificate, as the service wrote it.
    thumbprint: Option<String>,
}

/// The nonces of the last logins: the latest [`NONCES`] at least, and twice as many at most.
#[derive(Debug, Default)]
struct SeenNonces {
    latest: HashSet<[u8; 16]>,
    before: HashSet<[u8; 16]>,
}

impl LoginJudge {
    pub(crate) fn new(signers: &[Arc<Signer>]) -> Self {
        Self { signers: signers.into(), nonces: Arc::default() }
    }

    /// Whether a login is what it should be.
    fn judge(&self, login: &LoginRecord) -> Result<(), LoginFault> {
        // Records are this file's own.
        let nonce = from_base64(&login.nonce).unwrap_or_default();
        if nonce.len() < LEAST_NONCE {
            return Err(LoginFault::ShortNonce(nonce.len()));
        }
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        if !nonces.insert(&nonce) {
            return Err(LoginFault::RepeatedNonce);
        }
        drop(nonces);
        login.check_certificate(self.signers[login.signer].key.certificate())
    }
}

impl Verifier for LoginJudge {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let Ok(login) = serde_json::from_slice(record) else { return };
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

impl LoginRecord {
    pub(crate) fn new(
        signer: usize,
        nonce: &[u8],
        serial_number: Option<String>,
        thumbprint: Option<String>,
    ) -> Self {
        Self { signer, nonce: base64(nonce), serial_number, thumbprint }
    }

    /// As JSON, which is what is kept as evidence.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        // It is written into memory.
        let _ = serde_json::to_writer(bytes, self);
    }

    /// Whether that certificate was let in, by all that the service wrote and that can be read.
    fn check_certificate(&self, der: &[u8]) -> Result<(), LoginFault> {
        let another =
            |what, said: &str, own| Err(LoginFault::AnotherCertificate { what, said: said.to_owned(), own });
        let thumbprint = self.thumbprint.as_deref().and_then(|text| Some((text, sha256_of_text(text)?)));
        if let Some((text, said)) = &thumbprint {
            let own = sha256(der).0;
            if *said != own {
                return another("SHA-256 thumbprint", text, base64(&own));
            }
        }
        let serial = Certificate::parse(der).map_err(|_| LoginFault::NoCertificate)?.serial;
        let said = self.serial_number.as_deref().map(|text| (text, numbers(text)));
        let said = said.filter(|(_, numbers)| !numbers.is_empty());
        if let Some((text, numbers)) = &said
            && !numbers.iter().any(|number| number == without_zeros(serial))
        {
            let own = serial.iter().map(|byte| format!("{byte:02x}")).collect();
            return another("serial number", text, own);
        }
        if thumbprint.is_some() || said.is_some() { Ok(()) } else { Err(LoginFault::NoCertificate) }
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

/// The SHA-256 in base64, or in hexadecimal digits as other tools write it.
fn sha256_of_text(text: &str) -> Option<[u8; 32]> {
    let decoded = match text.len() {
        64 => digits(text, 16),
        _ => from_base64(text).ok(),
    };
    decoded?.try_into().ok()
}

/// The numbers that such a text may be, which is decimal in the vendor's clients, and hexadecimal elsewhere; none of what is neither.
fn numbers(text: &str) -> Vec<Vec<u8>> {
    let text = text.trim().replace([':', ' ', '-'], "");
    let hexadecimal = text.trim_start_matches("0x").trim_start_matches("0X");
    let both = [digits(&text, 10), digits(hexadecimal, 16)];
    both.into_iter().flatten().map(|number| without_zeros(&number).to_vec()).collect()
}

/// The number of those digits, big-endian in 32 bytes; none of what is no number, or longer than any serial number (RFC 5280 section 4.1.2.2) or
/// digest.
fn digits(text: &str, base: u32) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() > MOST_DIGITS {
        return None;
    }
    let mut number = vec![0u8; 32];
    for digit in text.chars() {
        let mut carry = digit.to_digit(base)?;
        for byte in number.iter_mut().rev() {
            let product = u32::from(*byte) * base + carry;
            *byte = (product & 0xff) as u8;
            carry = product >> 8;
        }
    }
    Some(number)
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
/// Hexadecimal digits of 32 bytes, which are as many as 20 bytes have in decimal at least.
const MOST_DIGITS: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::PkiTargetPlan;
    use crate::rest_pki::Authenticated;
    use crate::signer_source::{SignerIssuers, signers};

    fn judged(judge: &LoginJudge, nonce: &[u8], certificate: &Value) -> Result<(), LoginFault> {
        let answer = json!({ "certificate": certificate, "validationResults": { "errors": null } });
        let answer = Authenticated::read(answer.to_string().as_bytes()).unwrap();
        assert_eq!(answer.fault, None);
        let mut record = Vec::new();
        LoginRecord::new(1, nonce, answer.serial_number, answer.thumbprint).write(&mut record);
        judge.judge(&serde_json::from_slice(&record).unwrap())
    }

    fn nonce(number: u64) -> Vec<u8> {
        [number.to_be_bytes(), [7; 8]].concat()
    }

    #[test]
    fn who_is_let_in_is_held_against_who_signed_by_all_that_the_answer_says() {
        let made = signers(&PkiTargetPlan::default(), 1, SignerIssuers::default()).unwrap();
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
        let thumbprint = |place: usize| base64(&sha256(made[place].key.certificate()).0);
        let pairs =
            |joint: &str| serial(1).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(joint);
        let own = [
            json!({ "serialNumber": decimal(&serial(1)) }),
            json!({ "serialNumber": hex(&serial(1)) }),
            json!({ "serialNumber": pairs(":") }),
            json!({ "serialNumber": pairs("-") }),
            json!({ "serialNumber": format!(" 0X{} ", pairs("")) }),
            json!({ "binaryThumbprintSHA256": thumbprint(1) }),
            json!({ "binaryThumbprintSHA256": hex(&sha256(made[1].key.certificate()).0) }),
            json!({ "serialNumber": decimal(&serial(1)), "binaryThumbprintSHA256": thumbprint(1) }),
        ];
        let others = [
            json!({ "serialNumber": decimal(&serial(2)) }),
            json!({ "serialNumber": 5 }),
            json!({ "binaryThumbprintSHA256": thumbprint(2) }),
            json!({ "serialNumber": decimal(&serial(1)), "binaryThumbprintSHA256": thumbprint(2) }),
        ];
        // What nobody can read says nothing.
        let nameless = [
            Value::Null,
            json!({}),
            json!({ "serialNumber": null }),
            json!({ "serialNumber": "the first" }),
            json!({ "serialNumber": 4.68e47 }),
            json!({ "serialNumber": "9".repeat(1 << 20) }),
            json!({ "binaryThumbprintSHA256": "no base64!" }),
        ];
        let mut nonces = 0..;
        let mut said = |model: &Value| judged(&judge, &nonce(nonces.next().unwrap()), model);
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
        let made = signers(&PkiTargetPlan::default(), 1, SignerIssuers::default()).unwrap();
        let judge = LoginJudge::new(&made);
        let thumbprint = base64(&sha256(made[1].key.certificate()).0);
        let own = json!({ "binaryThumbprintSHA256": thumbprint });
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
