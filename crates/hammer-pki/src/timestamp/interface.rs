use std::borrow::Cow;

use hammer_cms::timestamp::{QUERY_MEDIA_TYPE, REPLY_MEDIA_TYPE, ReplyFault, TimestampQuery, check_reply};
use hammer_core::record::StepGuard;
use hammer_core::workload::Ended;
use hammer_exchange::{SentSecrets, ServiceClient, expect_ok};
use hammer_measure::Outcome;
use hammer_net::{Answer, ConfigError, Request, WireTimes};
use hammer_values::RequestPath;
use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::uri::PathAndQuery;

use crate::json_request::{ends, none, post, send};
use crate::{dss, rest_pki};

/// How timestamps are asked for.
#[derive(Clone, Debug)]
pub enum TimestampInterface {
    /// Rest PKI's JSON, by a plan of timestamps.
    RestPki {
        /// Its name.
        plan: String,
    },
    /// DSS's JSON.
    Dss,
    /// RFC 3161 over HTTP (section 3.4), whatever the service speaks besides.
    Http {
        /// Path and query behind the service's URL.
        path: RequestPath,
    },
}

/// What a service answered.
pub(super) struct Stamp<'a> {
    /// A `TimeStampToken`, or over HTTP the `TimeStampResp` with it.
    pub(super) body: Cow<'a, [u8]>,
    pub(super) wire: &'a WireTimes,
}

impl TimestampInterface {
    /// Whether a query has a nonce, and asks for the certificate of the signer.
    pub(super) const fn has_nonce(&self) -> bool {
        matches!(self, Self::Http { .. })
    }

    /// Where it is asked.
    pub(super) fn path(&self, client: &ServiceClient) -> Result<PathAndQuery, ConfigError> {
        match self {
            Self::RestPki { plan } => client.path(&format!("/Api/TimestampPlans/{plan}/Issue")),
            Self::Dss => client.path(&format!("/{}", dss::TIMESTAMP)),
            Self::Http { path } => client.path(path.as_str()),
        }
    }

    /// Asks for a timestamp of a hash, with that nonce over HTTP. A `TimeStampResp` is not looked into, but for a refusal.
    pub(super) async fn stamp<'a>(
        &self,
        (client, path): (&ServiceClient, &PathAndQuery),
        step: &mut StepGuard<'_>,
        (hash, nonce): (&[u8; 32], Option<u64>),
        answer: &'a mut Answer,
    ) -> Result<Stamp<'a>, Ended> {
        let request = match self {
            Self::Http { .. } => query(path.clone(), hash, nonce),
            _ => post(path.clone(), rest_pki::hash(hash)),
        };
        match self {
            // A reply comes with 200 (RFC 3161 section 3.4).
            Self::Http { .. } => {
                client.send(step, &request, answer).await?;
                expect_ok(step, answer)?;
            }
            _ => send(client, step, &request, answer).await?,
        }
        let token = match self {
            Self::RestPki { .. } => rest_pki::timestamp_token(&answer.body),
            Self::Dss => dss::timestamp_token(&answer.body),
            Self::Http { .. } => {
                check((client, &request), step, answer)?;
                return Ok(Stamp { body: Cow::Borrowed(&answer.body), wire: &answer.wire });
            }
        };
        let token = token.map_err(|why| none(client, step, &why))?;
        Ok(Stamp { body: Cow::Owned(token), wire: &answer.wire })
    }
}

/// A `TimeStampReq` to that path.
fn query(path: PathAndQuery, hash: &[u8; 32], nonce: Option<u64>) -> Request {
    let mut der = Vec::with_capacity(QUERY);
    TimestampQuery { imprint_sha256: *hash, nonce, certificates: true }.write(&mut der);
    let mut request = Request::post(path, der).keep_header(CONTENT_TYPE);
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(QUERY_MEDIA_TYPE));
    request.headers.insert(ACCEPT, HeaderValue::from_static(REPLY_MEDIA_TYPE));
    request
}

/// Looks at what a query was replied with: where the authority grants no timestamp, a success of HTTP is a refusal all the same.
fn check(
    (client, request): (&ServiceClient, &Request),
    step: &mut StepGuard<'_>,
    answer: &Answer,
) -> Result<(), Ended> {
    let content_type = answer.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let Err(fault) = check_reply(content_type, &answer.body) else { return Ok(()) };
    let outcome = match fault {
        ReplyFault::MediaType => Outcome::Malformed,
        ReplyFault::NotGranted(_) => Outcome::Refused,
    };
    let ended = Ended::failed(outcome, fault.cause());
    client.tell_said(step, ended, (request, SentSecrets::default()), || fault.to_string());
    Err(ends(step, ended))
}

/// Bytes of the longest query.
const QUERY: usize = 72;
