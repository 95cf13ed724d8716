//! Fulcio behind its server: which request is which endpoint, and who answers it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use hammer_lab::{
    handle::{LabHandle, LabTarget},
    lie_rule::LieRecord,
    serve::{Target, answer::AnswerBody, grpc::is_call},
};
use http::{Method, Response, request::Parts};

use super::{endpoint::endpoint, grpc, issuance::Issuance, plan::FulcioLieKind, rest};
use hammer_lab_authority::Authority;

/// A Fulcio that runs.
pub type FulcioLabHandle = LabHandle<FulcioTarget>;

/// A Fulcio behind its server.
#[derive(Debug)]
pub struct FulcioTarget {
    issuance: Issuance,
}

impl FulcioTarget {
    pub(super) const fn new(issuance: Issuance) -> Self {
        Self { issuance }
    }

    /// What signs the certificates.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.issuance.authority
    }

    /// The lies that were told because the plan said so, in order, and the count of those beyond the listed ones.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<LieRecord<FulcioLieKind>>, u64) {
        let (mut told, unlisted) = self.issuance.lies.told();
        let (of_bundles, of_bundles_unlisted) = self.issuance.bundle_lies.told();
        told.extend(of_bundles);
        (told, unlisted + of_bundles_unlisted)
    }
}

impl LabTarget for FulcioTarget {
    fn restart(&self, now: Duration) {
        self.issuance.lies.restart(now);
        self.issuance.bundle_lies.restart(now);
    }
}

impl Target for FulcioTarget {
    const ENDPOINTS: &'static [&'static str] = &super::endpoint::ALL;

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        endpoint(path)
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        if is_call(&parts) {
            return grpc::answer(&self.issuance, &parts, &body).await;
        }
        rest::answer(&self.issuance, endpoint, &parts, &body).await
    }
}
