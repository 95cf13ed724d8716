//! From a token and a key to a chain: the one function below REST v1, REST v2 and gRPC.

use std::sync::Arc;

use hammer_lab::{
    clock::Clock,
    serve::grpc::{GrpcCode, GrpcRefusal},
};
use ring::rand::{SecureRandom, SystemRandom};

use super::{
    ct_log::CtLogClient,
    leaf::{LastExtension, Leaf},
    plan::FulcioLieKind,
    sct::{of_another_log, sct_list, with_bad_signature},
    signing_request::{KeySource, invalid},
};
use crate::{
    authority::Authority,
    hex::hex,
    lie::{AnswerLies, LieRecord},
    pem,
    signer::LabSigner,
    token::{Identity, TokenVerifier},
};

/// What certificates are issued from.
#[derive(Debug)]
pub(super) struct Issuance {
    pub(super) authority: Authority,
    pub(super) verifier: TokenVerifier,
    pub(super) ct_log: Option<CtLogClient>,
    pub(super) another: AnotherAuthor,
    pub(super) lies: AnswerLies<FulcioLieKind>,
    pub(super) clock: Arc<dyn Clock>,
}

/// Whose keys lies are told with.
#[derive(Debug)]
pub(super) struct AnotherAuthor {
    /// An authority of the same names.
    pub(super) authority: Authority,
    /// A key that nobody asked a certificate for.
    pub(super) key: LabSigner,
    /// The key of another log.
    pub(super) log: LabSigner,
}

/// A certificate with those that lead to its root, in PEM, its own first.
#[derive(Debug)]
pub(super) struct IssuedChain {
    pub(super) certificates: Vec<String>,
    /// Whether Fulcio has a log, whose SCT is then embedded.
    pub(super) has_embedded_sct: bool,
}

impl Issuance {
    /// A certificate for the key, and for whom the token names.
    pub(super) async fn issue(&self, token: &str, key: KeySource<'_>) -> Result<IssuedChain, GrpcRefusal> {
        let issued_at = self.clock.unix_ms() / 1000;
        let identity = self.verifier.verify(token, issued_at).map_err(|fault| {
            tracing::debug!("failed to {fault}");
            invalid(INVALID_TOKEN)
        })?;
        let key = key.proven(&identity.email)?;
        let email = identity.email.clone();
        let lie = self.lies.next(self.clock.elapsed());
        let (spki, public_key) = (key.spki(), key.bytes());
        let mut leaf = Leaf { serial: serial()?, identity, spki, public_key, issued_at };
        match lie {
            Some(FulcioLieKind::CertificateForAnotherKey) => {
                leaf.spki = self.another.key.spki();
                leaf.public_key = self.another.key.public_key();
            }
            Some(FulcioLieKind::CertificateForAnotherIdentity) => leaf.identity = another(leaf.identity),
            Some(FulcioLieKind::CertificateOfAnotherIssuer) => {
                leaf.identity = of_another_issuer(leaf.identity);
            }
            _ => {}
        }
        let chain = self.certify(&leaf, lie).await?;
        if let Some(kind) = lie {
            self.lies.tell(LieRecord { kind, subject: email, serial: hex(&leaf.serial) });
        }
        Ok(chain)
    }

    async fn certify(&self, leaf: &Leaf<'_>, lie: Option<FulcioLieKind>) -> Result<IssuedChain, GrpcRefusal> {
        let authority = match lie {
            Some(FulcioLieKind::CertificateByAnotherCa) => &self.another.authority,
            _ => &self.authority,
        };
        let certificate = match &self.ct_log {
            Some(log) if lie != Some(FulcioLieKind::CertificateWithoutSct) => {
                let scts = self.scts(log, leaf, lie).await?;
                leaf.certificate(authority, LastExtension::Scts(&scts))
            }
            _ => leaf.certificate(authority, LastExtension::None),
        };
        let certificates = [&[pem::certificate(&certificate)], authority.pem()].concat();
        Ok(IssuedChain { certificates, has_embedded_sct: self.ct_log.is_some() })
    }

    /// The list of the SCT that the log gives for the precertificate, or that is a lie in its place.
    async fn scts(
        &self,
        log: &CtLogClient,
        leaf: &Leaf<'_>,
        lie: Option<FulcioLieKind>,
    ) -> Result<Vec<u8>, GrpcRefusal> {
        let precertificate = leaf.certificate(&self.authority, LastExtension::Poison);
        let chain = [&[precertificate], self.authority.chain()].concat();
        let sct = log.add_pre_chain(&chain).await.map_err(|fault| {
            tracing::warn!("failed to {fault}");
            GrpcRefusal::new(GrpcCode::Internal, "Error entering certificate in CTL")
        })?;
        Ok(sct_list(&match lie {
            Some(FulcioLieKind::BadSctSignature) => with_bad_signature(sct),
            Some(FulcioLieKind::SctOfAnotherLog) => of_another_log(sct, &chain, &self.another.log),
            _ => sct,
        }))
    }
}

/// Somebody else of the same issuer.
fn another(identity: Identity) -> Identity {
    let email = format!("not-{}", identity.email);
    Identity { email, ..identity }
}

/// The same address, as another issuer would vouch for it.
fn of_another_issuer(identity: Identity) -> Identity {
    let issuer = format!("{}.example", identity.issuer);
    Identity { issuer, ..identity }
}

/// 159 random bits, as Fulcio's serial numbers have.
fn serial() -> Result<[u8; 20], GrpcRefusal> {
    let mut serial = [0; 20];
    let filled = SystemRandom::new().fill(&mut serial);
    filled.map_err(|_| GrpcRefusal::new(GrpcCode::Internal, "error communicating with CA backend"))?;
    serial[0] &= 0x7f;
    Ok(serial)
}

const INVALID_TOKEN: &str = "There was an error processing the identity token";
