//! A shard's client, and the requests without what each signature puts into them.

use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_core::workload::ShardContext;
use hammer_exchange::ServiceClient;
use hammer_net::ConfigError;
use http::uri::PathAndQuery;

use super::SignConfig;
use crate::dialect::Dialect;
use crate::signature_kind::SignatureKind;
use crate::signer::Signer;
use crate::{dss, rest_pki};

/// A shard's client.
pub struct SignSession {
    pub(super) client: ServiceClient,
    pub(super) clock: Rc<dyn Clock>,
    pub(super) requests: Requests,
    /// What a URL of an answer is below.
    pub(super) root: PathAndQuery,
}

/// What is sent, but for what an operation puts into it: for each kind and each signer.
pub(super) enum Requests {
    RestPki(Vec<Vec<rest_pki::StartRequest>>),
    Dss { of: Vec<Vec<dss::SignRequest>>, data_to_sign: PathAndQuery, sign_document: PathAndQuery },
}

impl SignSession {
    pub(crate) fn client(&self) -> &ServiceClient {
        &self.client
    }

    pub(super) fn new(
        config: &SignConfig,
        client: ServiceClient,
        context: &ShardContext,
    ) -> Result<Self, ConfigError> {
        let signers = || config.signers.iter();
        let kinds = config.kinds.iter().map(|(kind, _)| *kind);
        let requests = match config.dialect {
            Dialect::RestPki => {
                let security_context = config.security_context.as_deref();
                let of_kind = |kind| {
                    let certificates = signers().map(|signer| signer.key.certificate());
                    let policy = rest_pki::policy(kind);
                    certificates
                        .map(|der| rest_pki::StartRequest::new(kind, der, policy, security_context))
                        .collect()
                };
                Requests::RestPki(kinds.map(of_kind).collect())
            }
            Dialect::Dss => {
                let of_kind = |kind: SignatureKind| {
                    let by_digest = config.by_digest && !kind.is_pdf();
                    let request = |signer: &Signer| {
                        let (certificate, is_rsa) = (signer.key.certificate(), signer.key.is_rsa());
                        dss::SignRequest::new(kind, certificate, &signer.issuers, is_rsa, by_digest)
                    };
                    signers().map(|signer| request(signer)).collect()
                };
                Requests::Dss {
                    of: kinds.map(of_kind).collect(),
                    data_to_sign: client.path(&format!("/{}", dss::DATA_TO_SIGN))?,
                    sign_document: client.path(&format!("/{}", dss::SIGN_DOCUMENT))?,
                }
            }
        };
        let root = client.path("/")?;
        Ok(Self { root, client, clock: context.clock.clone(), requests })
    }
}
