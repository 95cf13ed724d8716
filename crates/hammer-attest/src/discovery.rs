//! Discovery documents: what a service says of itself, asked before a run and beside it.

use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::connection::ConnectionLog;
use hammer_measure::{Nanos, peer_text};
use hammer_net::{Answer, Balancing, Client, ClientConfig, Failure, Request};
use hammer_rats::{PsaDialect, VerificationKey, json_object};
use http::HeaderValue;
use http::header::{ACCEPT, CACHE_CONTROL};
use serde::Deserialize;

use crate::error::AttestError;
use crate::freshness;
use crate::plan::DiscoveryKind;

/// A discovery document (`application/vnd.veraison.discovery+json`), of either service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DiscoveryDocument {
    /// What the service takes: endorsements or evidence.
    #[serde(rename = "media-types", default, deserialize_with = "json_object::or_default")]
    pub media_types: Vec<String>,
    /// Its release.
    #[serde(default, deserialize_with = "json_object::or_default")]
    pub version: String,
    /// `READY`, where it is.
    #[serde(rename = "service-state", default, deserialize_with = "json_object::or_default")]
    pub state: String,
    /// Where its operations are.
    #[serde(rename = "api-endpoints", default, deserialize_with = "json_object::member")]
    pub endpoints: ApiEndpoints,
    /// What results are signed with; of verification alone.
    #[serde(rename = "ear-verification-key", default, deserialize_with = "json_object::member_if_any")]
    pub key: Option<VerificationKey>,
}

/// Paths of operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ApiEndpoints {
    /// Where endorsements are submitted.
    #[serde(rename = "provisioningSubmit", default)]
    pub submit: Option<String>,
    /// Where sessions are opened.
    #[serde(rename = "newChallengeResponseSession", default)]
    pub new_session: Option<String>,
}

impl DiscoveryDocument {
    /// Reads a document.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let read: Self = json_object::read(json).map_err(|why| peer_text(&why.to_string()))?;
        // Both are told in notes and errors.
        Ok(Self { version: peer_text(&read.version), state: peer_text(&read.state), ..read })
    }

    /// Whether the service says that it is ready.
    pub fn is_ready(&self) -> bool {
        self.state == READY
    }

    /// How endorsements of PSA devices are written for it; none where it takes none that are known here.
    pub fn dialect(&self) -> Option<PsaDialect> {
        let takes = |dialect: &PsaDialect| self.takes(dialect.media_type());
        [PsaDialect::Psa2025, PsaDialect::Iot1].into_iter().find(takes)
    }

    /// Whether it takes that media type.
    pub fn takes(&self, media_type: &str) -> bool {
        let wanted = MediaType::of(media_type);
        self.media_types.iter().any(|taken| MediaType::of(taken) == wanted)
    }
}

/// A media type as it is compared (RFC 9110 section 8.3.1): names without their case, parameters in any order.
#[derive(Debug, PartialEq, Eq)]
struct MediaType {
    name: String,
    parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Parameters of a type that Veraison knows hold no semicolon, quoted or not.
    fn of(text: &str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let parameter = |part: &str| {
            let (name, value) = part.split_once('=')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().trim_matches('"').to_owned()))
        };
        let mut parameters: Vec<_> = parts.filter_map(parameter).collect();
        parameters.sort();
        Self { name, parameters }
    }
}

/// A client of one service's document.
pub(crate) struct DiscoveryClient {
    kind: DiscoveryKind,
    client: Client,
    request: Request,
    clock: Rc<dyn Clock>,
}

impl DiscoveryClient {
    pub(crate) fn new(
        kind: DiscoveryKind,
        config: ClientConfig,
        clock: &Rc<dyn Clock>,
    ) -> Result<Self, AttestError> {
        let config = ClientConfig {
            balancing: Balancing::PickFirst,
            connections: 1,
            per_address: None,
            read_within: std::time::Duration::ZERO,
            ..config
        };
        let client = Client::new(config, clock.clone(), ConnectionLog::default())?;
        let request = request(client.path(kind.path())?);
        let request = freshness::TOLD_BY.into_iter().fold(request, Request::keep_header);
        Ok(Self { kind, client, request, clock: clock.clone() })
    }

    /// The document of one of its frontends; and how old it may be.
    pub(crate) async fn ask(
        &self,
        frontend: usize,
        timeout: Nanos,
    ) -> Result<(DiscoveryDocument, Nanos), String> {
        self.document(frontend, &self.request, timeout).await
    }

    /// The same by a path that no cache on the way was asked for before: one that says nothing of how long it keeps what it has might go on to
    /// show an old document, whatever the request says. A frontend that takes no query is asked without.
    pub(crate) async fn ask_anew(
        &self,
        (frontend, number): (usize, u64),
        timeout: Nanos,
    ) -> Result<(DiscoveryDocument, Nanos), String> {
        let path = self.client.path(&format!("{}?{ANEW}={number}", self.kind.path()));
        if let Ok(path) = path {
            let request = Request { path, ..self.request.clone() };
            if let Ok(answered) = self.document(frontend, &request, timeout).await {
                return Ok(answered);
            }
        }
        self.ask(frontend, timeout).await
    }

    async fn document(
        &self,
        frontend: usize,
        request: &Request,
        timeout: Nanos,
    ) -> Result<(DiscoveryDocument, Nanos), String> {
        let mut answer = Answer::new();
        let too_late = self.clock.sleep_until(self.clock.now().saturating_add(timeout));
        tokio::select! {
            sent = self.client.send_to(frontend, request, &mut answer) => {
                sent.map_err(|why: Failure| format!("failed to {why}"))?;
            }
            () = too_late => return Err(format!("it did not answer within {timeout}")),
        }
        if answer.status != http::StatusCode::OK {
            return Err(format!("it answered GET {} with {}", request.path, answer.status.as_u16()));
        }
        if answer.body.trim_ascii_start().starts_with(b"<") {
            return Err(format!("it answered GET {} with a page for people", request.path));
        }
        let document = DiscoveryDocument::parse(&answer.body);
        let document = document.map_err(|why| format!("its document cannot be read: {why}"))?;
        Ok((document, freshness::age(&answer.headers)))
    }

    /// Its frontends, as they were looked up now; and the names of all that are known, each at the place that a frontend is.
    pub(crate) async fn named_frontends(&self) -> Result<(Vec<String>, Vec<usize>), String> {
        let frontends = self.frontends().await?;
        Ok((self.client.endpoints(), frontends))
    }

    /// Its frontends, as the last look-up named them.
    pub(crate) async fn frontends(&self) -> Result<Vec<usize>, String> {
        self.client.servers().await.map_err(|why| format!("failed to {why}"))
    }
}

/// A request for a document, which no cache on the way may answer.
pub(crate) fn request(path: http::uri::PathAndQuery) -> Request {
    let mut request = Request::get(path);
    request.headers.insert(ACCEPT, HeaderValue::from_static(DISCOVERY));
    request.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    request
}

/// The parameter that tells one reading of a document from another.
const ANEW: &str = "read";
const READY: &str = "READY";
const DISCOVERY: &str = "application/vnd.veraison.discovery+json";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::body;

    #[test]
    fn the_dialect_is_that_of_the_media_types_however_they_are_written() {
        let of = |types: &[&str]| {
            let media_types = types.iter().map(|text| (*text).to_owned()).collect();
            DiscoveryDocument {
                media_types,
                version: String::new(),
                state: String::new(),
                endpoints: ApiEndpoints::default(),
                key: None,
            }
            .dialect()
        };
        let old = r#"application/corim-unsigned+cbor; profile="http://arm.com/psa/iot/1""#;
        assert_eq!(of(&[old]), Some(PsaDialect::Iot1));
        assert_eq!(
            of(&["a/b", "Application/RIM+cbor;Profile=tag:arm.com,2025:psa#1.0.0"]),
            Some(PsaDialect::Psa2025)
        );
        assert_eq!(of(&[old, PsaDialect::Psa2025.media_type()]), Some(PsaDialect::Psa2025));
        assert_eq!(of(&["application/rim+cbor; profile=\"tag:arm.com,2025:cca_realm#1.0.0\""]), None);
    }

    #[test]
    fn the_documents_of_both_releases_say_what_workloads_live_by() {
        let of = |name: &str| DiscoveryDocument::parse(&body(name)).unwrap();
        let signed = r#"application/rim+cose; profile="tag:arm.com,2025:psa#1.0.0""#;
        for (provisioning, verification, version, dialect, takes_signed) in [
            ("01-wellknown-provisioning", "02-wellknown-verification", "v0.0.2502", PsaDialect::Iot1, false),
            ("v2608-01-wk-prov", "v2608-02-wk-verif", "v0.0.2608", PsaDialect::Psa2025, true),
        ] {
            let document = of(provisioning);
            assert!(document.is_ready() && document.key.is_none());
            assert_eq!((document.version.as_str(), document.dialect()), (version, Some(dialect)));
            assert_eq!(document.takes(signed), takes_signed);
            assert_eq!(document.endpoints.submit.as_deref(), Some("/endorsement-provisioning/v1/submit"));
            let document = of(verification);
            assert!(document.is_ready() && document.key.is_some() && document.dialect().is_none());
            assert!(document.takes("application/psa-attestation-token"));
            let new_session = document.endpoints.new_session.as_deref();
            assert_eq!(new_session, Some("/challenge-response/v1/newSession"));
        }
        let management = of("e19-mgmt-wellknown");
        assert!(management.is_ready() && management.endpoints == ApiEndpoints::default());
        assert!(DiscoveryDocument::parse(&body("e18-404")).is_err());
    }
}
