//! Sessions as verification shows them (`application/vnd.veraison.challenge-response-session+json`).

use std::borrow::Cow;

use hammer_rats::json_object;
use serde::Deserialize;

/// A session: what a flow needs of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SessionObject<'a> {
    /// How far it is.
    #[serde(borrow)]
    pub status: Cow<'a, str>,
    /// Its nonce, in base64: of the first alphabet to v0.0.2608, and of the second, without padding, where later sources have it.
    #[serde(borrow, default)]
    pub nonce: Cow<'a, str>,
    /// The evidence that it was shown; some services may not repeat it.
    #[serde(borrow, default, deserialize_with = "json_object::member_if_any")]
    pub evidence: Option<ShownText<'a>>,
    /// What verification says of the device, a JWT, once it is there.
    #[serde(borrow, default)]
    pub result: Option<Cow<'a, str>>,
}

/// Evidence as a session repeats it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ShownText<'a> {
    /// Its bytes, in base64.
    #[serde(borrow, default)]
    pub value: Cow<'a, str>,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStatus {
    /// It waits for evidence.
    Waiting,
    /// Its evidence is being appraised.
    Processing,
    /// There is a result.
    Complete,
    /// There will be none.
    Failed,
}

/// How a session that has a result repeats what it is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SessionEcho {
    /// As it was opened and shown.
    #[default]
    AsItWas,
    /// It was opened with another nonce than it was asked for with.
    OpenedWithAnother,
    /// It shows another nonce than it was opened with.
    AnotherNonce,
    /// It shows other evidence than it was shown.
    OtherEvidence,
}

impl SessionEcho {
    const ALL: [Self; 4] = [Self::AsItWas, Self::OpenedWithAnother, Self::AnotherNonce, Self::OtherEvidence];

    /// That of a byte of a record.
    pub(crate) fn at(place: u8) -> Option<Self> {
        Self::ALL.get(usize::from(place)).copied()
    }
}

impl<'a> SessionObject<'a> {
    /// Reads one; nothing where it is none.
    pub fn parse(json: &'a [u8]) -> Option<Self> {
        json_object::read(json).ok()
    }

    /// What of it is not as it was: the nonce by which it was opened, and the evidence that it was shown. What it does not repeat is held
    /// against nothing.
    pub(crate) fn echo(&self, nonce: &[u8], evidence: &[u8]) -> SessionEcho {
        let has_nonce = self.nonce.is_empty() || hammer_rats::base64_text::is_of(&self.nonce, nonce);
        let shown = self.evidence.as_ref().map_or("", |shown| &shown.value);
        let has_evidence = shown.is_empty() || hammer_rats::base64_text::is_of(shown, evidence);
        match (has_nonce, has_evidence) {
            (false, _) => SessionEcho::AnotherNonce,
            (true, false) => SessionEcho::OtherEvidence,
            (true, true) => SessionEcho::AsItWas,
        }
    }

    /// The nonce of a session that waits for evidence.
    pub fn waiting_nonce(&self) -> Option<Vec<u8>> {
        let nonce = hammer_rats::base64_text::decode(&self.nonce)?;
        let is_usable = self.status() == Some(SessionStatus::Waiting) && nonce.len() <= MOST_NONCE;
        is_usable.then_some(nonce)
    }

    /// How far it is; nothing where that is no word for it.
    pub fn status(&self) -> Option<SessionStatus> {
        Some(match &*self.status {
            "waiting" => SessionStatus::Waiting,
            "processing" => SessionStatus::Processing,
            "complete" => SessionStatus::Complete,
            "failed" => SessionStatus::Failed,
            _ => return None,
        })
    }
}

/// Whether an answer is a problem document (RFC 9457), as the service writes of a session that it does not know. What stands before it, or
/// a path that leads nowhere, is answered for in other words.
pub(crate) fn is_problem(json: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Problem {
        status: u16,
    }
    json_object::read::<Problem>(json).is_ok_and(|problem| problem.status >= 400)
}

/// What a record has room for; sessions have 64 bytes at most.
const MOST_NONCE: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::body;

    #[test]
    fn sessions_are_read_as_both_releases_wrote_them() {
        for name in [
            "06-submit-evidence",
            "07-get-session-complete",
            "e13-evidence-garbage",
            "e15-evidence-nonce-mismatch",
        ] {
            let json = body(name);
            let session = SessionObject::parse(&json).unwrap();
            assert_eq!(session.status(), Some(SessionStatus::Complete));
            assert_eq!(session.result.unwrap().split('.').count(), 3);
            assert_eq!(session.nonce.len(), 44);
            assert!(!is_problem(&json));
        }
        for name in ["04-newsession-nonce", "05-get-session-waiting", "v2608-04-newsession"] {
            let json = body(name);
            let session = SessionObject::parse(&json).unwrap();
            assert_eq!((session.status(), session.result), (Some(SessionStatus::Waiting), None));
        }
    }

    #[test]
    fn what_a_session_repeats_is_what_it_is_of_or_not_and_what_it_leaves_out_is_no_fault() {
        let json = body("06-submit-evidence");
        let session = SessionObject::parse(&json).unwrap();
        let bytes = |text: &str| hammer_rats::base64_text::decode(text).unwrap();
        let (nonce, evidence) = (bytes(&session.nonce), bytes(&session.evidence.as_ref().unwrap().value));
        assert_eq!((nonce.len(), evidence.len() > 400), (32, true));
        assert_eq!(session.echo(&nonce, &evidence), SessionEcho::AsItWas);
        assert_eq!(session.echo(&[7; 32], &evidence), SessionEcho::AnotherNonce);
        assert_eq!(session.echo(&nonce, &evidence[1..]), SessionEcho::OtherEvidence);
        for less in [
            r#"{"status":"complete"}"#,
            r#"{"status":"complete","nonce":"","evidence":{}}"#,
            r#"{"status":"complete","evidence":null}"#,
        ] {
            assert_eq!(
                SessionObject::parse(less.as_bytes()).unwrap().echo(&nonce, &evidence),
                SessionEcho::AsItWas,
                "{less}"
            );
        }
        assert!(
            (0..4).all(|place| SessionEcho::at(place).unwrap() as u8 == place)
                && SessionEcho::at(4).is_none()
        );
    }

    #[test]
    fn the_nonce_of_a_session_is_read_in_either_alphabet() {
        let nonce = [vec![0xfb, 0xff, 0xbf], vec![7; 29]].concat();
        for head in ["+/+/", "-_-_"] {
            for tail in ["", "="] {
                let text = format!("{head}{}{tail}", "BwcH".repeat(9) + "Bwc");
                let json = format!(r#"{{"status":"waiting","nonce":"{text}"}}"#);
                let session = SessionObject::parse(json.as_bytes()).unwrap();
                assert_eq!(session.waiting_nonce().as_ref(), Some(&nonce), "{text}");
            }
        }
        let none = SessionObject::parse(br#"{"status":"waiting","nonce":"no nonce"}"#).unwrap();
        assert_eq!(none.waiting_nonce(), None);
    }

    #[test]
    fn a_problem_is_no_session_and_a_page_is_neither() {
        for name in ["09-get-session-after-delete", "e10-evidence-bad-session-id"] {
            let json = body(name);
            assert!(is_problem(&json) && SessionObject::parse(&json).is_none(), "{name}");
        }
        let page = body("e18-404");
        assert!(!is_problem(&page) && SessionObject::parse(&page).is_none());
    }
}
