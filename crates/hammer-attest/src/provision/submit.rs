//! One submission, and what the service says of it.

use std::rc::Rc;
use std::sync::Arc;

use hammer_core::record::StepGuard;
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, ShardContext};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::Nanos;
use hammer_net::{Answer, ClientConfig, ConfigError, Request};
use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};

use super::endorser::Endorser;
use super::submitted::submitted;
use crate::auth::{AttestAuth, ShardAuth};
use crate::error::AttestError;
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
    delay: Nanos,
}

/// A shard's client of provisioning.
pub struct ProvisionSession {
    service: ServiceClient,
    request: Request,
    auth: ShardAuth,
    provisioned: Arc<ProvisionedDevices>,
    /// How long after it said so the service may have a device unknown.
    delay: Nanos,
}

impl SubmitConfig {
    pub(crate) fn new(
        endorser: &Endorser,
        target: &AttestTarget,
        provisioned: Arc<ProvisionedDevices>,
        client: ClientConfig,
    ) -> Result<Self, AttestError> {
        let path = target.submit_path()?.to_owned();
        Ok(Self {
            service: ServiceConfig::new(SERVICE, client),
            path,
            media_type: endorser.media_type(),
            auth: target.auth.clone(),
            provisioned,
            delay: target.provisioning_delay.into(),
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
        let (provisioned, delay) = (self.provisioned.clone(), self.delay);
        Ok(ProvisionSession { service, request, auth, provisioned, delay })
    }
}

impl ProvisionSession {
    /// A request without its body.
    pub(crate) fn request(&self) -> Request {
        self.request.clone()
    }

    /// Waits until the service has a device that it took in just now.
    pub(crate) async fn settled(&self, index: u64, clock: &Rc<dyn Clock>) {
        if self.delay > Nanos::ZERO {
            clock.sleep_until(clock.now().saturating_add(self.delay)).await;
        }
        self.provisioned.add(index);
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
        let shown = token.as_ref().map(|token| token.token.expose());
        let secrets = SentSecrets { bearer, tokens: shown.as_slice() };
        self.service.send_as(&mut step, request, secrets, answer).await?;
        expect_ok(&mut step, answer)?;
        let said = submitted(&answer.body);
        match said {
            Ok(ended) => {
                match self.delay {
                    Nanos::ZERO => self.provisioned.add(index),
                    _ => self.provisioned.add_fresh(index),
                }
                step.ends(ended);
            }
            Err((ended, reason)) => {
                self.service.ends_by(&mut step, ended, (request, secrets), reason.as_bytes());
            }
        }
        said.map_err(|(ended, _)| ended)
    }
}

/// The service by whose name the report tells of its connections.
const SERVICE: &str = "provisioning";
const SESSION: &str = "application/vnd.veraison.provisioning-session+json";
