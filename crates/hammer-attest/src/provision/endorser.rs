//! Who writes endorsements: as the service takes them, signed where the plan says by whom.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hammer_p256::{RawSignature, Signature};
use hammer_rats::PsaDialect;
use hammer_rats::corim::CorimSigner;
use hammer_synth::{Algorithm, FileKey, Signer as _};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;

use crate::devices::{DeviceMaterial, DeviceScratch, Devices};
use crate::error::AttestError;
use crate::plan::SignerPlan;
use crate::target::AttestTarget;

/// Writes endorsements of devices.
#[derive(Clone, Debug)]
pub(crate) struct Endorser {
    devices: Devices,
    dialect: PsaDialect,
    signer: Option<Arc<OwnSigner>>,
}

/// Who signs them: a key that somebody keeps.
struct OwnSigner {
    name: String,
    key: FileKey,
    /// The DER of its certificate.
    certificate: Vec<u8>,
}

impl Endorser {
    pub(crate) fn new(
        devices: Devices,
        signer: Option<&SignerPlan>,
        target: &AttestTarget,
    ) -> Result<Self, AttestError> {
        let dialect = target.dialect()?;
        if signer.is_some() && dialect.signed_media_type().is_none() {
            return Err(AttestError::UnsignedAlone);
        }
        let signer = signer.map(OwnSigner::of).transpose()?.map(Arc::new);
        Ok(Self { devices, dialect, signer })
    }

    /// The media type of what it writes.
    pub(crate) fn media_type(&self) -> &'static str {
        let signed = self.signer.as_ref().and_then(|_| self.dialect.signed_media_type());
        signed.unwrap_or(self.dialect.media_type())
    }

    /// Replaces `out` by the endorsements of a device.
    pub(crate) fn write(
        &self,
        index: u64,
        material: &mut DeviceMaterial,
        scratch: &mut DeviceScratch,
        out: &mut Vec<u8>,
    ) {
        self.devices.write(index, material);
        match &self.signer {
            None => self.devices.write_corim(material, self.dialect, scratch, out),
            Some(own) => {
                let OwnSigner { name, certificate, .. } = &**own;
                let signer = CorimSigner { name, uri: URI, certificate };
                let sign = |message: &[u8]| own.sign(message);
                self.devices.write_signed_corim(material, self.dialect, (&signer, sign), scratch, out);
            }
        }
    }
}

impl OwnSigner {
    fn of(plan: &SignerPlan) -> Result<Self, AttestError> {
        let refused = |key, path: &Path, why: String| AttestError::Signer { key, path: path.to_owned(), why };
        let key = FileKey::from_pem_file(&plan.key)
            .map_err(|why| refused("signer.key", &plan.key, format!("failed to {why}")))?;
        if key.algorithm() != Algorithm::P256 {
            return Err(refused("signer.key", &plan.key, "its key is none of P-256".to_owned()));
        }
        let certificate = CertificateDer::from_pem_file(&plan.certificate)
            .map_err(|why| refused("signer.certificate", &plan.certificate, why.to_string()))?;
        // The key stands in the certificate as it does here (RFC 5280 section 4.1).
        let spki = key.spki_der();
        if !certificate.windows(spki.len()).any(|part| part == spki) {
            let why = format!("it is not the certificate of {}", plan.key.display());
            return Err(refused("signer.certificate", &plan.certificate, why));
        }
        Ok(Self { name: plan.name.clone(), key, certificate: certificate.to_vec() })
    }

    fn sign(&self, message: &[u8]) -> [u8; 64] {
        let mut der = Vec::new();
        self.key.sign(message, &mut der);
        // A key of P-256 signs nothing but such numbers; were it another, the service would say so.
        RawSignature::from_der(&der).map_or([0; 64], |signature| Signature::from(signature).to_fixed())
    }
}

impl fmt::Debug for OwnSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnSigner").field("name", &self.name).finish_non_exhaustive()
    }
}

const URI: &str = "https://acme.example";
