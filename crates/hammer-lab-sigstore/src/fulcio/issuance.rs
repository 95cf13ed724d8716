//! From a token and a key to a chain: the one function below REST v1, REST v2 and gRPC.

use std::sync::Arc;

use hammer_lab::{
    clock::Clock,
    lie_rule::{AnswerLies, LieRecord},
    serve::grpc::{GrpcCode, GrpcRefusal},
};
use hammer_tlog::ct::{rfc6962::EntryType, sct::Sct};
use ring::rand::{SecureRandom, SystemRandom};

use super::{
    ct_log::CtLogClient,
    leaf::{LastExtension, Leaf},
    plan::{FulcioLieKind, SctPlace},
    sct::{of_another_log, sct_list, with_bad_signature},
    signing_request::{KeySource, invalid},
};
use crate::token::{CertifiedName, Identity, TokenVerifier};
use hammer_lab_authority::{Authority, LabSigner, hex, pem};

/// What certificates are issued from.
#[derive(Debug)]
pub(super) struct Issuance {
    pub(super) authority: Authority,
    pub(super) verifier: TokenVerifier,
    pub(super) ct_log: Option<CtLogClient>,
    pub(super) sct: SctPlace,
    pub(super) another: AnotherAuthor,
    pub(super) lies: AnswerLies<FulcioLieKind>,
    /// About the trust bundle.
    pub(super) bundle_lies: AnswerLies<FulcioLieKind>,
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
    /// The SCT where it is not, as the log answered; empty where there is none.
    pub(super) detached_sct: Vec<u8>,
}

impl Issuance {
    /// A certificate for the key, and for whom the token names.
    pub(super) async fn issue(&self, token: &str, key: KeySource<'_>) -> Result<IssuedChain, GrpcRefusal> {
        let issued_at = self.clock.unix_ms() / 1000;
        let identity =
            self.verifier.verify_or_ask(token, issued_at, &*self.clock).await.map_err(|fault| {
                tracing::debug!("failed to {fault}");
                invalid(INVALID_TOKEN)
            })?;
        let key = key.proven(&identity.challenge)?;
        let subject = identity.challenge.clone();
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
            self.lies.tell(LieRecord { kind, subject, serial: hex(&leaf.serial) });
        }
        Ok(chain)
    }

    /// Whose chain is in the trust bundle now: this authority's own, unless that is lied about.
    pub(super) fn bundled(&self) -> &Authority {
        let Some(kind) = self.bundle_lies.next(self.clock.elapsed()) else { return &self.authority };
        self.bundle_lies.tell(LieRecord { kind, subject: "trust-bundle".to_owned(), serial: String::new() });
        &self.another.authority
    }

    async fn certify(&self, leaf: &Leaf<'_>, lie: Option<FulcioLieKind>) -> Result<IssuedChain, GrpcRefusal> {
        let authority = match lie {
            Some(FulcioLieKind::CertificateByAnotherCa) => &self.another.authority,
            _ => &self.authority,
        };
        let log = self.ct_log.as_ref().filter(|_| lie != Some(FulcioLieKind::CertificateWithoutSct));
        let mut detached_sct = Vec::new();
        let certificate = match (log, self.sct) {
            (None, _) => leaf.certificate(authority, LastExtension::None),
            (Some(log), SctPlace::Embedded) => {
                let precertificate =
                    |leaf: &Leaf<'_>| leaf.certificate(&self.authority, LastExtension::Poison);
                let sct = self.sct(log, EntryType::Precert, leaf, precertificate, lie).await?;
                leaf.certificate(authority, LastExtension::Scts(&sct_list(&sct)))
            }
            (Some(log), SctPlace::Detached) => {
                let certificate = leaf.certificate(&self.authority, LastExtension::None);
                let logged = |asked: &Leaf<'_>| match asked.serial == leaf.serial {
                    true => certificate.clone(),
                    false => asked.certificate(&self.authority, LastExtension::None),
                };
                let sct = self.sct(log, EntryType::X509, leaf, logged, lie).await?;
                // Structs of strings and numbers always have a JSON text.
                detached_sct = serde_json::to_vec(&sct.to_response()).unwrap_or_default();
                match lie {
                    Some(FulcioLieKind::CertificateByAnotherCa) => {
                        leaf.certificate(authority, LastExtension::None)
                    }
                    _ => certificate,
                }
            }
        };
        let certificates = [&[pem::certificate(&certificate)], authority.pem()].concat();
        let has_embedded_sct = self.ct_log.is_some() && self.sct == SctPlace::Embedded;
        Ok(IssuedChain { certificates, has_embedded_sct, detached_sct })
    }

    /// The SCT that the log gives for what `logged` makes of the leaf, or that is a lie in its place.
    async fn sct(
        &self,
        log: &CtLogClient,
        entry: EntryType,
        leaf: &Leaf<'_>,
        logged: impl Fn(&Leaf<'_>) -> Vec<u8>,
        lie: Option<FulcioLieKind>,
    ) -> Result<Sct, GrpcRefusal> {
        let submitted = match lie {
            Some(FulcioLieKind::SctOfAnotherCertificate) => {
                logged(&Leaf { serial: serial()?, ..leaf.clone() })
            }
            _ => logged(leaf),
        };
        let chain = [&[submitted], self.authority.chain()].concat();
        let sct = log.add(&chain, entry).await.map_err(|fault| {
            tracing::warn!("failed to {fault}");
            GrpcRefusal::new(GrpcCode::Internal, "Error entering certificate in CTL")
        })?;
        Ok(match lie {
            Some(FulcioLieKind::BadSctSignature) => with_bad_signature(sct),
            Some(FulcioLieKind::SctOfAnotherLog) => of_another_log(sct, &chain, entry, &self.another.log),
            _ => sct,
        })
    }
}

/// Somebody else of the same issuer.
fn another(identity: Identity) -> Identity {
    let name = match identity.name {
        CertifiedName::Email(email) => CertifiedName::Email(format!("not-{email}")),
        CertifiedName::Uri(uri) => CertifiedName::Uri(format!("{uri}-not")),
        CertifiedName::Username(name) => CertifiedName::Username(format!("not-{name}")),
    };
    Identity { name, ..identity }
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
