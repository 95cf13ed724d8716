//! A shard's client, and the requests without the files.

use std::cell::RefCell;

use hammer_core::workload::{FatalError, ShardContext, Workload as _};
use hammer_exchange::ServiceClient;
use hammer_net::{Body, BodyPart};
use http::uri::PathAndQuery;

use super::{ValidateConfig, ValidatedFiles};
use crate::dialect::Dialect;
use crate::dss;
use crate::rest_pki::{self, OpenRequest};
use crate::sign::SignSession;
use crate::signed_file_form::SignedFileForm;

/// A shard's client.
pub struct ValidateSession {
    reached: Reached,
    requests: Openings,
    /// Where what was promised is written down, on its way to a verifier.
    pub(super) promised: RefCell<Vec<u8>>,
}

/// The client: by itself, or as that of signatures.
enum Reached {
    Alone(ServiceClient),
    Signing(SignSession),
}

enum Openings {
    /// Of CMS, and of PDF.
    RestPki([(PathAndQuery, OpenRequest); 2]),
    Dss(PathAndQuery),
}

impl ValidateSession {
    pub(super) async fn open(config: &ValidateConfig, context: ShardContext) -> Result<Self, FatalError> {
        let reached = match &config.files {
            ValidatedFiles::Given(_) => Reached::Alone(config.service.open(&context).await?),
            ValidatedFiles::Signed(signs) => Reached::Signing(signs.open(context).await?),
        };
        let client = reached.client();
        let requests = match config.dialect {
            Dialect::RestPki => {
                let of = |form| {
                    let path = client.path(&format!("/{}", rest_pki::open(form)))?;
                    Ok::<_, FatalError>((path, OpenRequest::new(form, config.security_context.as_deref())))
                };
                Openings::RestPki([of(SignedFileForm::Cades)?, of(SignedFileForm::Pades)?])
            }
            Dialect::Dss => Openings::Dss(client.path(&format!("/{}", dss::VALIDATE_SIGNATURE))?),
        };
        Ok(Self { reached, requests, promised: RefCell::default() })
    }

    pub(super) fn client(&self) -> &ServiceClient {
        self.reached.client()
    }

    /// By which users have documents signed, where they do.
    pub(super) fn signing(&self) -> Option<&SignSession> {
        match &self.reached {
            Reached::Signing(session) => Some(session),
            Reached::Alone(_) => None,
        }
    }

    /// Where a file in base64 is validated, and the body that asks for it.
    pub(super) fn request(&self, form: SignedFileForm, base64: Vec<BodyPart>) -> (PathAndQuery, Body) {
        match &self.requests {
            Openings::RestPki(of) => {
                let (path, request) = &of[form as usize];
                (path.clone(), request.body(base64))
            }
            Openings::Dss(path) => (path.clone(), dss::validate_signature(form, base64)),
        }
    }
}

impl Reached {
    fn client(&self) -> &ServiceClient {
        match self {
            Self::Alone(client) => client,
            Self::Signing(session) => session.client(),
        }
    }
}
