//! hammer's own issuer of identity tokens: its keys, and where it is served.

use std::net::SocketAddr;

use hammer_lab::LabError;
use hammer_lab_sigstore::issuer::{IssuerTarget, StaticDocument, StaticDocuments};
use hammer_lab_sigstore::{TokenSignature, TrustedIssuer};
use hammer_oauth::{IssuerDocuments, IssuerKeys, IssuerUrlError, TokenAlgorithm};
use hammer_sigstore::{IdentityPlan, TokenSigner};

use crate::error::CliError;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;
use crate::protocol::lab::unstarted;

/// Who signs the tokens that an embedded Fulcio believes. Nobody looks it up.
pub(crate) const OWN_ISSUER: &str = "http://issuer.hammer.test";

/// What keeps the issuer of a plan's `identity`, which stands at that path, from being served: its address is told by the key that says
/// it, `listen` or else `issuer`.
pub(crate) fn unserved(error: LabError, identity: &IdentityPlan, at: &PlanPath) -> CliError {
    let key = if identity.listen.is_some() { "listen" } else { "issuer" };
    match error {
        LabError::Listen { .. } => PlanFault::from(error).at(at.clone().key(key)).into(),
        other => unstarted(other, at),
    }
}

/// What is said of an issuer that is served nowhere.
pub(crate) const NOWHERE_TO_LISTEN: &str = "the issuer's own address is none of loopback with a port: give the one at which hammer serves it, such as 127.0.0.1:8888, \
     or 127.0.0.1:0 where it is served already";

/// The keys of an issuer, as all runs of that seed have them.
pub(crate) fn issuer_keys(seed: u64, signer: TokenSigner) -> IssuerKeys {
    IssuerKeys::of_seed(seed, algorithm_of(signer), 0)
}

/// What a plan's tokens are signed with.
pub(crate) const fn algorithm_of(signer: TokenSigner) -> TokenAlgorithm {
    match signer {
        TokenSigner::Es256 => TokenAlgorithm::Es256,
        TokenSigner::Rs256 => TokenAlgorithm::Rs256,
    }
}

/// What the tokens of an embedded instance are signed with.
pub(crate) const fn signer_of(signature: TokenSignature) -> TokenSigner {
    match signature {
        TokenSignature::Es256 => TokenSigner::Es256,
        TokenSignature::Rs256 => TokenSigner::Rs256,
    }
}

/// The issuer that an embedded Fulcio trusts without looking it up.
///
/// # Errors
/// None, since the name of [`OWN_ISSUER`] is one.
pub(crate) fn trusted_issuer(keys: &IssuerKeys) -> Result<TrustedIssuer, IssuerUrlError> {
    let documents = IssuerDocuments::new(OWN_ISSUER, &[keys])?;
    Ok(TrustedIssuer { issuer: OWN_ISSUER.to_owned(), jwks: documents.jwks })
}

/// Where the issuer is served: as the plan says, else at its own address, where that is one of loopback with a port.
pub(crate) fn listen(identity: &IdentityPlan, issuer: &str) -> Option<SocketAddr> {
    identity.listen.or_else(|| {
        let url: http::Uri = issuer.parse().ok()?;
        let address: SocketAddr = url.authority()?.as_str().parse().ok()?;
        (address.ip().is_loopback() && address.port() > 0).then_some(address)
    })
}

/// Serves these documents in the place of those before.
pub(crate) fn publish(served: &IssuerTarget, documents: IssuerDocuments) {
    published(documents).into_iter().for_each(|(path, document)| served.replace(path, document));
}

/// What the issuer publishes, by its paths.
pub(crate) fn published(documents: IssuerDocuments) -> StaticDocuments {
    let IssuerDocuments { discovery, discovery_path, jwks, jwks_path } = documents;
    [(discovery_path, StaticDocument::json(discovery)), (jwks_path, StaticDocument::json(jwks))].into()
}
