//! Chains that were issued elsewhere and are submitted as they are.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ring::digest;
use x509_parser::prelude::X509Certificate;

use crate::above::Above;
use crate::authority::files::parse;
use crate::der::{Der, context_nested};
use crate::error::Error;
use crate::minted::{Kind, Minted};
use crate::{extension, oid, pem};

/// Chains from PEM files, one chain a file, the leaf first.
#[derive(Clone, Debug)]
pub struct FileChains {
    chains: Vec<Chain>,
}

#[derive(Clone, Debug)]
struct Chain {
    kind: Kind,
    leaf: Vec<u8>,
    /// Where the leaf's own TBSCertificate lies in it.
    signed: Range<usize>,
    /// The TBSCertificate of a precertificate's final certificate.
    entry: Vec<u8>,
    above: Arc<Above>,
    issuer_key_hash: [u8; 32],
    not_after: u64,
}

impl FileChains {
    /// Reads the files of a folder that end in `.pem`, `.crt` or `.cer`, in the order of their names.
    ///
    /// # Errors
    /// [`Error::NoChains`] when there are none, and those of [`FileChains::read`].
    pub fn read_folder(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        let failed = |source| Error::Read { path: folder.to_owned(), source };
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path
                .extension()
                .is_some_and(|ending| ["pem", "crt", "cer"].iter().any(|known| ending == *known))
            {
                paths.push(path);
            }
        }
        paths.sort();
        if paths.is_empty() {
            return Err(Error::NoChains { path: folder.to_owned() });
        }
        Self::read(&paths)
    }

    /// Reads these files, in their order.
    ///
    /// # Errors
    /// [`Error::NoChains`] for an empty list; for a file that cannot be read, or a precertificate whose issuer it does not
    /// hold, an error that names it.
    pub fn read(paths: &[PathBuf]) -> Result<Self, Error> {
        if paths.is_empty() {
            return Err(Error::NoChains { path: PathBuf::new() });
        }
        let chains = paths.iter().map(|path| Chain::read(path)).collect::<Result<_, _>>()?;
        Ok(Self { chains })
    }

    /// How many chains there are, at least one.
    #[expect(clippy::len_without_is_empty, reason = "an empty list is refused when it is read")]
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// The last valid second of the leaf of chain `seq % len`, since the Unix epoch.
    pub fn not_after(&self, seq: u64) -> u64 {
        self.chain(seq).not_after
    }

    /// Which submission chain `seq % len` is for.
    pub fn kind(&self, seq: u64) -> Kind {
        self.chain(seq).kind
    }

    /// Puts chain `seq % len` into `out`, replacing what it held.
    pub fn write(&self, seq: u64, out: &mut Minted) {
        let chain = self.chain(seq);
        out.start(seq, chain.kind);
        out.issuer_key_hash = chain.issuer_key_hash;
        out.not_after = chain.not_after;
        out.bytes.extend_from_slice(&chain.leaf);
        out.signed = chain.signed.clone();
        out.entry.extend_from_slice(&chain.entry);
        out.set_above(&chain.above);
    }

    fn chain(&self, seq: u64) -> &Chain {
        &self.chains[(seq % self.chains.len() as u64) as usize]
    }
}

impl Chain {
    fn read(path: &Path) -> Result<Self, Error> {
        let mut certificates = pem::read_certificates(path)?;
        let leaf = parse(path, 0, &certificates[0])?;
        let not_after = leaf.validity().not_after.timestamp().max(0).cast_unsigned();
        let above = match certificates.get(1) {
            Some(der) => Some(parse(path, 1, der)?),
            None => None,
        };
        let signed = place(&certificates[0], leaf.tbs_certificate.as_ref());
        if !is_precert(&leaf) {
            let issuer_key_hash = above.as_ref().map_or([0; 32], key_hash);
            let (leaf, above) = (certificates.remove(0), Arc::new(Above::new(certificates)));
            let entry = Vec::new();
            return Ok(Self { kind: Kind::X509, leaf, signed, entry, above, issuer_key_hash, not_after });
        }
        let failed = |reason| Error::Precertificate { path: path.to_owned(), reason };
        let above = above.ok_or(failed("the file does not hold its issuer"))?;
        let (entry, issuer_key_hash) = if is_precert_signer(&above) {
            let der = certificates
                .get(2)
                .ok_or(failed("the file does not hold the issuer of its signing certificate"))?;
            let issuer = parse(path, 2, der)?;
            (final_tbs(&leaf, Some(&above)).ok_or(failed(HAS_UNIQUE_ID))?, key_hash(&issuer))
        } else {
            (final_tbs(&leaf, None).ok_or(failed(HAS_UNIQUE_ID))?, key_hash(&above))
        };
        let (leaf, above) = (certificates.remove(0), Arc::new(Above::new(certificates)));
        Ok(Self { kind: Kind::Precert, leaf, signed, entry, above, issuer_key_hash, not_after })
    }
}

fn is_precert(certificate: &X509Certificate<'_>) -> bool {
    certificate.extensions().iter().any(|extension| extension.oid.as_bytes() == oid::POISON)
}

fn is_precert_signer(certificate: &X509Certificate<'_>) -> bool {
    let usage = certificate.extended_key_usage().ok().flatten();
    usage.is_some_and(|usage| {
        usage.value.other.iter().any(|purpose| purpose.as_bytes() == oid::PRECERTIFICATE_SIGNING)
    })
}

fn key_hash(certificate: &X509Certificate<'_>) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(
        digest::digest(&digest::SHA256, certificate.tbs_certificate.subject_pki.raw).as_ref(),
    );
    hash
}

/// The TBSCertificate of the final certificate (RFC 6962 section 3.2): without the poison, and where a Precertificate
/// Signing Certificate signed, with that one's issuer and authority key identifier. `None` where something stands between
/// the key and the extensions.
fn final_tbs(precert: &X509Certificate<'_>, signer: Option<&X509Certificate<'_>>) -> Option<Vec<u8>> {
    let tbs = precert.tbs_certificate.as_ref();
    if precert.tbs_certificate.issuer_uid.is_some() || precert.tbs_certificate.subject_uid.is_some() {
        return None;
    }
    let issuer = place(tbs, precert.issuer().as_raw());
    let public_key = place(tbs, precert.tbs_certificate.subject_pki.raw);
    let header = tbs.len() - content_length(tbs);
    Some(Der::build(|der| {
        der.sequence(|der| {
            der.raw(&tbs[header..issuer.start]);
            der.raw(signer.map_or(&tbs[issuer.clone()], |signer| signer.issuer().as_raw()));
            der.raw(&tbs[issuer.end..public_key.end]);
            der.nested(context_nested(3), |der| der.sequence(|der| write_extensions(der, precert, signer)));
        });
    }))
}

fn write_extensions(der: &mut Der, precert: &X509Certificate<'_>, signer: Option<&X509Certificate<'_>>) {
    let mut replacement = signer.and_then(authority_key_id);
    for extension in precert.extensions() {
        let value = match extension.oid.as_bytes() {
            oid::POISON => continue,
            oid::AUTHORITY_KEY_IDENTIFIER if signer.is_some() => match replacement.take() {
                Some(of_signer) => of_signer,
                None => continue,
            },
            _ => extension.value,
        };
        extension::write(der, extension.oid.as_bytes(), extension.critical, |der| der.raw(value));
    }
    if let Some(of_signer) = replacement {
        extension::write(der, oid::AUTHORITY_KEY_IDENTIFIER, false, |der| der.raw(of_signer));
    }
}

fn authority_key_id<'a>(certificate: &X509Certificate<'a>) -> Option<&'a [u8]> {
    let mut extensions = certificate.extensions().iter();
    extensions.find(|one| one.oid.as_bytes() == oid::AUTHORITY_KEY_IDENTIFIER).map(|one| one.value)
}

/// Where `part`, which the parser cut out of `whole`, lies in it.
fn place(whole: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

/// How long the content of one DER value is that fills all of `der`.
fn content_length(der: &[u8]) -> usize {
    match der[1] {
        short @ 0..0x80 => usize::from(short),
        long => der.len() - 2 - usize::from(long & 0x7f),
    }
}

const HAS_UNIQUE_ID: &str = "it has unique identifiers between its key and its extensions";
