//! A shard's clients, and the requests without what each flow puts into them.

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use hammer_core::record::{OperationRecord, StepGuard};
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, ShardContext};
use hammer_exchange::ServiceClient;
use hammer_measure::Outcome;
use hammer_net::{Answer, BodyBuffer, ConfigError, Request};
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::uri::PathAndQuery;
use http::{HeaderValue, Method};

use crate::devices::{DeviceMaterial, DeviceScratch};
use crate::plan::{NonceSource, VerifyPlan};
use crate::provision::{Endorser, ProvisionSession};
use crate::record::ResultRecord;

/// A shard's clients.
pub struct VerifySession {
    pub(super) client: ServiceClient,
    /// What users provision by as they enter.
    submit: Option<(Endorser, ProvisionSession)>,
    requests: VerifyRequests,
    pub(super) clock: Rc<dyn Clock>,
    /// Where what was promised is written down, on its way to a verifier.
    promised: RefCell<Vec<u8>>,
    entering: RefCell<(DeviceMaterial, DeviceScratch)>,
}

/// The requests of a flow.
#[derive(Clone, Debug)]
pub(super) struct VerifyRequests {
    pub(super) new_session: Request,
    pub(super) evidence: Request,
    pub(super) read: Request,
    pub(super) delete: Request,
}

impl VerifySession {
    pub(super) fn new(
        client: ServiceClient,
        submit: Option<(Endorser, ProvisionSession)>,
        (plan, new_session): (&VerifyPlan, &str),
        context: &ShardContext,
    ) -> Result<Self, ConfigError> {
        let joined = if new_session.contains('?') { '&' } else { '?' };
        let of_service = match plan.nonce {
            NonceSource::Service => format!("{joined}nonceSize={NONCE_SIZE}"),
            NonceSource::Own | NonceSource::Device => String::new(),
        };
        let session = |method, path| {
            let mut request = Request { method, ..Request::get(path) };
            request.headers.insert(ACCEPT, HeaderValue::from_static(SESSION));
            request
        };
        let path = client.path(&format!("{new_session}{of_service}"))?;
        let mut evidence = session(Method::POST, path.clone());
        let media_type = HeaderValue::try_from(&plan.evidence_type);
        // The service's document named it.
        evidence.headers.insert(CONTENT_TYPE, media_type.unwrap_or(HeaderValue::from_static("")));
        let requests = VerifyRequests {
            new_session: Request { kept_headers: vec![LOCATION], ..session(Method::POST, path.clone()) },
            evidence,
            read: session(Method::GET, path.clone()),
            delete: Request { method: Method::DELETE, ..Request::get(path) },
        };
        let (promised, entering) = Default::default();
        Ok(Self { client, submit, requests, clock: context.clock.clone(), promised, entering })
    }

    /// The requests of an operation that has none yet.
    pub(super) fn requests(&self) -> VerifyRequests {
        self.requests.clone()
    }

    /// The path that opens a session with that nonce: in base64url with padding, as v0.0.2502 has it.
    pub(super) fn path_of_nonce(&self, nonce: &[u8]) -> Result<PathAndQuery, Ended> {
        let mut path = self.requests.new_session.path.as_str().to_owned();
        path.push(if path.contains('?') { '&' } else { '?' });
        path.push_str("nonce=");
        URL_SAFE.encode_string(nonce, &mut path);
        PathAndQuery::try_from(path).map_err(|_| NO_LOCATION)
    }

    /// The path of the session that was opened.
    pub(super) fn path_of_session(&self, answer: &Answer) -> Option<PathAndQuery> {
        let location = answer.headers.get(LOCATION)?.to_str().ok().filter(|location| !location.is_empty())?;
        self.client.path_of_location(location, &self.requests.new_session.path)
    }

    /// Submits the endorsements of the device that a user is, and waits until verification knows it.
    pub(super) async fn provision(&self, device: u64, step: StepGuard<'_>) -> Result<(), Ended> {
        let Some((endorser, session)) = &self.submit else { return Ok(()) };
        let mut corim = BodyBuffer::new();
        {
            let (material, scratch) = &mut *self.entering.borrow_mut();
            corim.rewrite(|out| endorser.write(device, material, scratch, out));
        }
        let request = Request { body: corim.body(), ..session.request() };
        session.submit(device, &request, &mut Answer::new(), step).await?;
        // The step is over: what is waited for here is in no figure.
        session.settled(device, &self.clock).await;
        Ok(())
    }

    /// Hands a result to the verifiers. It is written down in memory of the shard: thousands of flows in flight would each hold their own.
    pub(super) fn promise(&self, record: &OperationRecord, result: &ResultRecord<'_>) {
        let mut promised = self.promised.borrow_mut();
        result.write(&mut promised);
        record.promise(result.class.into(), &promised);
        promised.shrink_to(KEPT_RECORD);
    }
}

const SESSION: &str = "application/vnd.veraison.challenge-response-session+json";
/// What a PSA token has room for (RFC 9783 section 4.1.1).
pub(super) const NONCE_SIZE: usize = 32;
/// A huge result must not be held in memory for the rest of the run.
const KEPT_RECORD: usize = 1 << 16;
/// Nothing was sent: no device was provisioned yet.
pub(super) const NOTHING_PROVISIONED: Ended = Ended::failed(Outcome::Abandoned, "nothing provisioned yet");
pub(super) const NO_LOCATION: Ended = Ended::failed(Outcome::Malformed, "no location of a session");
/// It is followed nowhere that the plan does not name.
pub(super) const OTHER_LOCATION: Ended =
    Ended::failed(Outcome::Malformed, "location of a session at no URL of the target");
