//! One submission, and what the service says of it.

use std::borrow::Cow;
use std::sync::Arc;

use hammer_core::record::StepGuard;
use hammer_core::workload::{Ended, ShardContext};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::Outcome;
use hammer_net::{Answer, ClientConfig, ConfigError, Request};
use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use serde::Deserialize;

use super::endorser::Endorser;
use crate::auth::{AttestAuth, ShardAuth};
use crate::error::AttestError;
use crate::plan::DiscoveryKind;
use crate::provisioned::ProvisionedDevices;
use crate::target::AttestTarget;

/// What a shard's session is made from.
#[derive(Clone)]
pub(crate) struct SubmitConfig {
    pub(crate) service: ServiceConfig,
    path: String,
    media_type: &'static str,
    auth: AttestAuth,
    provisioned: Arc<ProvisionedDevices>,
}

/// A shard's client of provisioning.
pub struct ProvisionSession {
    service: ServiceClient,
    request: Request,
    auth: ShardAuth,
    provisioned: Arc<ProvisionedDevices>,
}

/// `application/vnd.veraison.provisioning-session+json`
#[derive(Deserialize)]
struct ProvisioningSession<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow, rename = "failure-reason", default)]
    reason: Cow<'a, str>,
}

impl SubmitConfig {
    pub(crate) fn new(
        endorser: &Endorser,
        target: &AttestTarget,
        provisioned: Arc<ProvisionedDevices>,
        client: ClientConfig,
    ) -> Result<Self, AttestError> {
        let document = target.provisioning.document.as_ref();
        let path = document.and_then(|document| document.endpoints.submit.clone());
        let unsaid = AttestError::Unsaid { kind: DiscoveryKind::Provisioning, what: "`provisioningSubmit`" };
        Ok(Self {
            service: ServiceConfig::new(SERVICE, client),
            path: path.ok_or(unsaid)?,
            media_type: endorser.media_type(),
            auth: target.auth.clone(),
            provisioned,
        })
    }

    pub(crate) async fn open(&self, context: &ShardContext) -> Result<ProvisionSession, ConfigError> {
        let service = self.service.open(context).await?;
        let mut request = Request::post(service.path(&self.path)?, "");
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        request.headers.insert(ACCEPT, HeaderValue::from_static(SESSION));
        let auth = self.auth.of_shard(&context.clock);
        if let ShardAuth::Header(value) = &auth {
            request.headers.insert(AUTHORIZATION, value.clone());
        }
        Ok(ProvisionSession { service, request, auth, provisioned: self.provisioned.clone() })
    }
}

impl ProvisionSession {
    /// A request without its body.
    pub(crate) fn request(&self) -> Request {
        self.request.clone()
    }

    /// Submits the endorsements of device `index`, and remembers it where the service has them then.
    ///
    /// # Errors
    /// How the operation ends otherwise.
    pub(crate) async fn submit(
        &self,
        index: u64,
        request: &Request,
        answer: &mut Answer,
        mut step: StepGuard<'_>,
    ) -> Result<Ended, Ended> {
        let token = match &self.auth {
            ShardAuth::Tokens(tokens) => match tokens.take().await {
                Ok(token) => Some(token),
                Err(ended) => {
                    step.ends(ended);
                    return Err(ended);
                }
            },
            ShardAuth::None | ShardAuth::Header(_) => None,
        };
        let bearer = token.as_ref().map(|token| &token.bearer);
        let secrets = SentSecrets { bearer, token: token.as_ref().map(|token| token.token.expose()) };
        self.service.send_as(&mut step, request, secrets, answer).await?;
        expect_ok(&mut step, answer)?;
        let said = submitted(&answer.body);
        match said {
            Ok(ended) => {
                self.provisioned.add(index);
                step.ends(ended);
            }
            Err((ended, reason)) => {
                step.ends(ended);
                if !reason.is_empty() {
                    self.service.tell_said(&mut step, request, secrets, reason.as_bytes());
                }
            }
        }
        said.map_err(|(ended, _)| ended)
    }
}

/// What an answer with HTTP 200 says; a refusal with its reason.
fn submitted(body: &[u8]) -> Result<Ended, (Ended, &'_ str)> {
    let Ok(session) = serde_json::from_slice::<ProvisioningSession<'_>>(body) else {
        return Err((Ended::failed(Outcome::Malformed, "no provisioning session"), ""));
    };
    match (&*session.status, &session.reason) {
        ("success", _) => Ok(Ended::accepted(200)),
        ("failed", reason) if reason.contains(ALREADY) => Ok(Ended::failed(Outcome::Accepted, KNOWN)),
        ("failed", reason) => {
            let cause =
                CAUSES.iter().find(|(said, _)| reason.contains(said)).map_or(FAILED, |(_, cause)| cause);
            let reason = match reason {
                Cow::Borrowed(reason) => reason,
                Cow::Owned(_) => std::str::from_utf8(body).unwrap_or_default(),
            };
            Err((Ended::failed(Outcome::Refused, cause), reason))
        }
        _ => Err((Ended::failed(Outcome::Malformed, "provisioning neither succeeded nor failed"), "")),
    }
}

/// The service by whose name the report tells of its connections.
const SERVICE: &str = "provisioning";
const SESSION: &str = "application/vnd.veraison.provisioning-session+json";
/// v0.0.2608: "token already in store".
const ALREADY: &str = "already in store";
/// The device is there, as it would be behind a success.
const KNOWN: &str = "in store before";
const FAILED: &str = "failed with HTTP 200";
/// What stores were seen to fail by, and its name as a cause.
const CAUSES: [(&str, &str); 5] = [
    ("too many clients", "too many clients, with HTTP 200"),
    ("remaining connection slots", "too many clients, with HTTP 200"),
    ("database is locked", "database locked, with HTTP 200"),
    ("deadlock", "database deadlocked, with HTTP 200"),
    ("connection refused", "store unreachable, with HTTP 200"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_200_alone_is_no_success() {
        let of =
            |json: &str| submitted(json.as_bytes()).map_err(|(ended, reason)| (ended, reason.to_owned()));
        let refused = |cause, reason: &str| Err((Ended::failed(Outcome::Refused, cause), reason.to_owned()));
        assert_eq!(of(r#"{"status":"success","expiry":"2026-11-21T06:31:48Z"}"#), Ok(Ended::accepted(200)));
        let failed =
            |reason: &str| format!(r#"{{"status":"failed","expiry":"x","failure-reason":"{reason}"}}"#);
        assert_eq!(of(&failed("CBOR decoding failed")), refused(FAILED, "CBOR decoding failed"));
        let clients = "FATAL: sorry, too many clients already (SQLSTATE 53300)";
        assert_eq!(of(&failed(clients)), refused("too many clients, with HTTP 200", clients));
        let known = "submit endorsement returned error: submit endorsements failed: token already in store";
        assert_eq!(of(&failed(known)), Ok(Ended::failed(Outcome::Accepted, KNOWN)));
        for none in ["", "{}", "<html>", r#"{"status":"done"}"#] {
            assert_eq!(of(none).unwrap_err().0.outcome, Outcome::Malformed, "{none}");
        }
    }
}
