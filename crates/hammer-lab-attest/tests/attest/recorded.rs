//! The recorded exchanges, one after another, with the embedded services in place of the real ones.

use std::collections::BTreeMap;

use hammer_lab_attest::Release;
use hammer_tlog::encoding::{base64, from_base64};
use serde_json::Value;

use crate::{
    client::{Answer, send},
    device::Device,
    exchange::{Exchange, normal},
    service::{BOTH, START_MS, Service},
};

macro_rules! exchanges {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../testdata/exchanges/", $name, ".txt")))),*]
    };
}

const OF_2502: [(&str, &str); 30] = exchanges![
    "01-wellknown-provisioning",
    "02-wellknown-verification",
    "03-submit-unsigned",
    "04-newsession-nonce",
    "05-get-session-waiting",
    "06-submit-evidence",
    "07-get-session-complete",
    "08-delete-session",
    "09-get-session-after-delete",
    "10-newsession-noncesize",
    "e01-submit-wrong-mediatype",
    "e02-submit-no-contenttype",
    "e03-submit-empty-body",
    "e04-submit-garbage",
    "e05-submit-bad-accept",
    "e06-newsession-bad-noncesize",
    "e07-newsession-bad-nonce",
    "e08-newsession-both",
    "e08b-newsession-default",
    "e09-evidence-unknown-session",
    "e10-evidence-bad-session-id",
    "e11-evidence-wrong-mediatype",
    "e12-evidence-empty",
    "e13-evidence-garbage",
    "e14-same-session-good-again",
    "e15-evidence-nonce-mismatch",
    "e16-delete-twice",
    "e16-delete-twice-b",
    "e17-get-newsession-method",
    "e18-404",
];

const OF_2608: [(&str, &str); 9] = exchanges![
    "v2608-01-wk-prov",
    "v2608-02-wk-verif",
    "v2608-03-submit-again",
    "v2608-04-newsession",
    "v2608-e01-legacy-type",
    "v2608-e02-legacy-body",
    "v2608-e03-garbage",
    "v2608-e04-unsigned-as-signed",
    "v2608-e05-profile-mismatch",
];

#[tokio::test]
async fn v0_0_2502_answers_every_recorded_request_as_it_was_recorded() {
    Replay::new(Release::V2502).await.run(&OF_2502).await;
}

#[tokio::test]
async fn v0_0_2608_answers_every_recorded_request_as_it_was_recorded() {
    let replay = Replay::new(Release::V2608).await;
    assert_eq!(replay.service.provision(&Device::new("demo", 0)).await["status"], "success");
    replay.run(&OF_2608).await;
}

#[tokio::test]
async fn management_tells_its_schemes_as_recorded() {
    let replay = Replay::new(Release::V2502).await;
    replay.run(&exchanges!["e19-mgmt-wellknown"]).await;
}

/// The exchanges of one release, repeated.
struct Replay {
    service: Service,
    /// The identifiers of sessions, by those that were recorded.
    sessions: BTreeMap<String, String>,
    /// The nonces that were drawn, by those that were recorded, both in standard base64.
    nonces: BTreeMap<String, String>,
}

impl Replay {
    async fn new(release: Release) -> Self {
        let service = Service::of(release).await;
        Self { service, sessions: BTreeMap::new(), nonces: BTreeMap::new() }
    }

    async fn run(mut self, recorded: &[(&str, &str)]) {
        for (name, text) in recorded {
            let exchange = Exchange::parse(text);
            self.service.clock_at(exchange.header("date").unwrap());
            let answer = self.send(&exchange).await;
            self.learn(&exchange, &answer);
            assert_eq!(answer.status, exchange.status, "{name}: {}", answer.text());
            assert_eq!(self.headers(&answer), expected_headers(&exchange), "{name}");
            assert_eq!(normal(&self.as_recorded(&answer.text())), normal(&exchange.body), "{name}");
        }
    }

    async fn send(&mut self, exchange: &Exchange) -> Answer {
        let mut path = exchange.path.clone();
        if let Some(id) = path.strip_prefix("/challenge-response/v1/session/").map(str::to_owned)
            && exchange.status != 404
            && id.len() == 36
        {
            if !self.sessions.contains_key(&id) {
                self.begin(&id, exchange).await;
            }
            path = path.replace(&id, &self.sessions[&id]);
        }
        let headers: Vec<(&str, &str)> =
            exchange.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let body = exchange.sent.as_deref().map(file).unwrap_or_default();
        send((&exchange.method, &self.service.url(&path)), &headers, body).await
    }

    /// Begins the session of an exchange, which was not recorded as it began, with the nonce that its answer shows.
    async fn begin(&mut self, id: &str, exchange: &Exchange) {
        let shown = serde_json::from_str(&exchange.body).unwrap_or(Value::Null);
        let nonce = shown["nonce"].as_str().unwrap_or("QUp8F0FBs9DpodKK8xUg8NQimf6sQAfe2J1ormzZLxk=");
        let nonce = nonce.replace('+', "-").replace('/', "_");
        let url = self.service.url(&format!("/challenge-response/v1/newSession?nonce={nonce}"));
        let answer = send(("POST", &url), &[], "").await;
        self.sessions.insert(id.to_owned(), session_of(answer.header("location").unwrap()));
    }

    /// What was drawn for this answer, and for the recorded one.
    fn learn(&mut self, exchange: &Exchange, answer: &Answer) {
        let (Some(was), Some(is)) = (exchange.header("location"), answer.header("location")) else { return };
        self.sessions.insert(session_of(was), session_of(is));
        let nonce =
            |text: &str| serde_json::from_str::<Value>(text).unwrap()["nonce"].as_str().unwrap().to_owned();
        self.nonces.insert(nonce(&exchange.body), nonce(&answer.text()));
    }

    /// The text as if what was recorded had been drawn.
    fn as_recorded(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (was, is) in self.sessions.iter().chain(&self.nonces) {
            text = text.replace(is, was);
        }
        text
    }

    fn headers(&self, answer: &Answer) -> Vec<(String, String)> {
        let headers = answer.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap()));
        compared(headers.map(|(name, value)| (name, self.as_recorded(value))).collect())
    }
}

fn expected_headers(exchange: &Exchange) -> Vec<(String, String)> {
    compared(exchange.answer_headers.clone())
}

/// In their order, without the date; the length of what is told ahead is that of a text with times and keys in it.
fn compared(mut headers: Vec<(String, String)>) -> Vec<(String, String)> {
    headers.retain(|(name, _)| name != "date");
    for (name, value) in &mut headers {
        match name.as_str() {
            "content-length" => value.clear(),
            "accept" => {
                let mut types: Vec<&str> = value.split(", ").collect();
                types.sort_unstable();
                *value = types.join(", ");
            }
            _ => {}
        }
    }
    headers.sort();
    headers
}

fn session_of(location: &str) -> String {
    location.strip_prefix("session/").unwrap().to_owned()
}

/// What was sent.
fn file(name: &str) -> Vec<u8> {
    match name {
        "garbage.bin" => b"not cbor".to_vec(),
        "psa.good.cbor" => good_token(),
        "corim-psa-full.cbor" => good_device().legacy_corim(),
        "dev0-rim2026-p2.corim.cbor" => Device::new("demo", 0).rim_corim(),
        "dev0-legacy-p2.corim.cbor" => Device::new("demo", 0).legacy_corim(),
        "/dev/null" => Vec::new(),
        other => panic!("{other} is not at hand"),
    }
}

/// The token of the recorded device, which its answer shows.
fn good_token() -> Vec<u8> {
    let exchange = Exchange::parse(include_str!("../../testdata/exchanges/06-submit-evidence.txt"));
    let session: Value = serde_json::from_str(&exchange.body).unwrap();
    from_base64(session["evidence"]["value"].as_str().unwrap()).unwrap()
}

/// The recorded device, as far as its CoRIM goes.
fn good_device() -> Device {
    let claims = Exchange::parse(include_str!("../../testdata/exchanges/06-submit-evidence.txt"));
    let claims = normal(&claims.body);
    let (_, claims) = claims.split_once("\"ear.veraison.annotated-evidence\":").unwrap();
    let mut claims = serde_json::Deserializer::from_str(claims).into_iter::<Value>();
    Device::provisioned_as(&claims.next().unwrap().unwrap(), GOOD_KEY)
}

/// The key of the device: the example of RFC 7517 appendix A.1.
const GOOD_KEY: &str = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D7gS2XpJFbZiItSs3m9+9Ue6GnvHw/GW2ZZaVtszggXIw==\n-----END PUBLIC KEY-----";

#[tokio::test]
async fn the_recorded_devices_are_affirmed_with_the_claims_that_were_recorded() {
    for (release, corim, token, ear) in [
        (
            Release::V2502,
            include_bytes!("../../testdata/devices/dev0-legacy-p2.corim.cbor").as_slice(),
            include_bytes!("../../testdata/devices/dev0-legacy-p2.token.cbor").as_slice(),
            include_str!("../../testdata/devices/dev0-legacy-p2.ear.json"),
        ),
        (
            Release::V2502,
            include_bytes!("../../testdata/devices/dev5-legacy-p1.corim.cbor"),
            include_bytes!("../../testdata/devices/dev5-legacy-p1.token.cbor"),
            include_str!("../../testdata/devices/dev5-legacy-p1.ear.json"),
        ),
        (
            Release::V2608,
            include_bytes!("../../testdata/devices/dev0-rim2026-p2.corim.cbor"),
            include_bytes!("../../testdata/devices/dev0-rim2026-p2.token.cbor"),
            include_str!("../../testdata/devices/dev0-rim2026-p2.ear.json"),
        ),
    ] {
        let service = Service::of(release).await;
        let recorded: Value = serde_json::from_str(ear).unwrap();
        service
            .clock
            .advance(std::time::Duration::from_millis(recorded["iat"].as_u64().unwrap() * 1000 - START_MS));
        assert_eq!(service.submit(service.corim_type(), corim).await.json(200)["status"], "success");
        let nonce = recorded["eat_nonce"].as_str().unwrap();
        let challenge = service.challenge_of(nonce).await;
        let answer = service.evidence(&challenge, token.to_vec()).await.json(200);
        let result = service.read(answer["result"].as_str().unwrap()).await;
        assert!(result.is_signed);
        assert_eq!(result.claims, recorded);
        // The names are in the order in which they were recorded, and so is all of the text.
        let text = normal(&format!("{{\"result\":\"{}\"}}", answer["result"].as_str().unwrap()));
        let compact = serde_json::to_string(&recorded).unwrap();
        assert!(text.contains(&compact), "{text}\n{compact}");
        assert_eq!(base64(&challenge.nonce).len(), nonce.len());
    }
}

#[tokio::test]
async fn a_signed_corim_that_was_accepted_is_and_an_altered_one_is_not() {
    const TYPE: &str = r#"application/rim+cose; profile="tag:arm.com,2025:psa#1.0.0""#;
    let corim = include_bytes!("../../testdata/devices/dev-signed.corim.cose");
    let service = Service::of(Release::V2608).await;
    for place in [corim.len() - 1, corim.len() / 2] {
        let mut altered = corim.to_vec();
        altered[place] ^= 1;
        let answer = service.submit(TYPE, altered).await.json(200);
        let reason = answer["failure-reason"].as_str().unwrap();
        assert!(reason.contains("verif"), "{reason}");
    }
    assert_eq!(service.submit(TYPE, corim.as_slice()).await.json(200)["status"], "success");
    let (_, result) = service.verify(|nonce| Device::new("signed", 0).token(nonce)).await;
    assert_eq!(result.status(), "affirming");
    let again = service.submit(TYPE, corim.as_slice()).await.json(200);
    assert!(again["failure-reason"].as_str().unwrap().ends_with("token already in store"));
}

#[tokio::test]
async fn a_release_knows_the_media_types_of_its_own_dialect_alone() {
    for (release, other) in BOTH.into_iter().zip([Release::V2608, Release::V2502]) {
        let (service, foreign) = (Service::of(release).await, Service::of(other).await);
        let device = Device::new("neg", 0);
        let answer = service.submit(foreign.corim_type(), foreign.corim(&device)).await;
        assert_eq!(answer.status, 415);
        assert!(answer.header("accept").unwrap().contains(service.corim_type()));
        // Quotes and case say nothing, and the profile does.
        let written = service.corim_type().replace("application", "Application").replace("; p", ";P");
        assert_eq!(service.submit(&written, service.corim(&device)).await.json(200)["status"], "success");
        let other_profile = service.corim_type().replace("psa", "PSA");
        assert_eq!(service.submit(&other_profile, service.corim(&device)).await.status, 415);
    }
}
