//! Answers of 200 that hold no SCT which can be read.

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};

use super::submit::Sct;

/// A form in which an SCT cannot be read, by the number of the lie: each in turn.
pub(super) fn unreadable(number: u64, sct: &Sct<'_>) -> Vec<u8> {
    let url = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(BASE64_STANDARD.decode(text).unwrap_or_default());
    let (id, extensions, signature) = (sct.id, &sct.extensions, &sct.signature);
    match number % FORMS {
        0 => br#"{"ok":true}"#.to_vec(),
        1 => Vec::new(),
        2 => Sct { sct_version: 1, extensions: extensions.clone(), signature: signature.clone(), ..*sct }
            .to_json(),
        // RFC 8259 section 4: "The names within an object SHOULD be unique"; which of two counts, nobody says.
        3 => {
            let json = String::from_utf8_lossy(&sct.to_json()).into_owned();
            json.replacen('{', &format!("{{\"timestamp\":{},", sct.timestamp + 1), 1).into_bytes()
        }
        4 => {
            let (id, extensions, signature) = (url(id), url(extensions), url(signature));
            Sct { id: &id, extensions, signature, ..*sct }.to_json()
        }
        5 => {
            let mut short = BASE64_STANDARD.decode(id).unwrap_or_default();
            short.pop();
            let id = BASE64_STANDARD.encode(short);
            Sct { id: &id, extensions: extensions.clone(), signature: signature.clone(), ..*sct }.to_json()
        }
        _ => b"<!DOCTYPE html><html><body>It works!</body></html>\n".to_vec(),
    }
}

/// How many forms there are.
pub(super) const FORMS: u64 = 7;
