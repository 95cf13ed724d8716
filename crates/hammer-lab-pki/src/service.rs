//! The service: what is started, signed by its caller, and finished.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use hammer_lab::{
    LabError,
    clock::Clock,
    lie_rule::{AnswerLies, LieRecord},
    serve::answer::{self, AnswerBody},
};
use hammer_lab_authority::{
    Authority, LabSigner, certificate::name, der::UTF8_STRING, hex, timestamp::ImprintHash,
    timestamp_query::StampRequest,
};
use hammer_tlog::encoding::{base64, from_base64};
use hammer_tlog::keys::chain::TrustedAuthorities;
use http::Response;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::json;

use crate::advanced_signature::{Profile, SignedAttributes, SigningCertificate, Surroundings};
use crate::asked::{AskedCompletion, AskedFile, AskedHash, AskedSignature, given, read};
use crate::blobs::Blobs;
use crate::caller::Caller;
use crate::models;
use crate::pending::Pending;
use crate::plan::{PkiLabPlan, PkiLieKind};
use crate::refusal::Refusal;
use crate::revocation::{RevocationFault, RevocationLists};
use crate::signed_revision::SignedRevision;
use crate::stored_file::StoredFile;
use crate::timestamps::{POLICY, Timestamps};

/// An answer, or a refusal of the service's own form.
pub(crate) type Answered = Result<Response<AnswerBody>, Refusal>;

/// What a signature service holds.
#[derive(Debug)]
pub(crate) struct PkiService {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) trusted: Option<TrustedAuthorities>,
    timestamps: Timestamps,
    /// Who signs in the place of the caller, as a lie.
    stranger: Authority,
    revocation: RevocationLists,
    nonces: Pending<Vec<u8>>,
    /// The nonce that was given last, which a lie gives again.
    last_nonce: Mutex<Vec<u8>>,
    /// Those that were given again.
    repeated_nonces: Pending<Vec<u8>>,
    signatures: Pending<StartedSignature>,
    pub(crate) blobs: Blobs,
    pub(crate) lies: AnswerLies<PkiLieKind>,
    random: SystemRandom,
}

/// A signature that waits for its caller.
#[derive(Debug)]
struct StartedSignature {
    caller: Caller,
    attributes: SignedAttributes,
    /// What was handed out to be signed.
    to_be_signed: Vec<u8>,
    of: SignedThing,
    has_timestamp: bool,
    callback: Option<String>,
    lie: Option<PkiLieKind>,
}

#[derive(Debug)]
enum SignedThing {
    /// A document that is enveloped, or none.
    Cades(Option<StoredFile>),
    /// What follows the document.
    Pades(SignedRevision, StoredFile),
}

impl PkiService {
    pub(crate) fn new(plan: &PkiLabPlan, clock: Arc<dyn Clock>) -> Result<Self, LabError> {
        let (now, elapsed) = (clock.unix_ms() / 1000, clock.elapsed());
        let stranger = LabSigner::p256("pki stranger", plan.key_seed)?;
        let stranger =
            Authority::root(stranger, name(UTF8_STRING, "hammer-lab", "another signer"), None, now);
        let trusted = trusted(plan)?;
        if trusted.is_none() && plan.revocation.is_some_and(|revocation| revocation.fetch) {
            return Err(LabError::Plan { key: "revocation.fetch".into(), reason: NO_ROOTS.to_owned() });
        }
        Ok(Self {
            trusted,
            timestamps: Timestamps::new(plan.key_seed, now)?,
            stranger,
            revocation: RevocationLists::new(plan.revocation),
            nonces: Pending::new(plan.token_ttl.duration()),
            last_nonce: Mutex::default(),
            repeated_nonces: Pending::new(plan.token_ttl.duration()),
            signatures: Pending::new(plan.token_ttl.duration()),
            blobs: Blobs::default(),
            lies: AnswerLies::new(&plan.lies, elapsed),
            random: SystemRandom::new(),
            clock,
        })
    }

    /// How many lists of revoked certificates it fetched.
    pub(crate) fn fetched_lists(&self) -> u64 {
        self.revocation.fetched()
    }

    /// The authority of its timestamps.
    pub(crate) fn timestamp_authority(&self) -> &Authority {
        self.timestamps.authority()
    }

    pub(crate) fn told_lies(&self) -> (Vec<LieRecord<PkiLieKind>>, u64) {
        self.lies.told()
    }

    pub(crate) fn restart(&self, now: Duration) {
        self.lies.restart(now);
    }

    pub(crate) fn lose_data(&self) {
        self.nonces.clear();
        self.repeated_nonces.clear();
        self.signatures.clear();
        self.revocation.clear();
        self.blobs.clear();
    }

    /// A nonce to be signed, by its own bytes or by a token.
    pub(crate) fn nonce(&self, is_by_token: bool) -> Answered {
        let mut nonce = self.random_bytes()?;
        let mut last = self.last_nonce.lock().unwrap_or_else(PoisonError::into_inner);
        let is_repeated = !last.is_empty() && self.tells(PkiLieKind::RepeatedNonce, "a login");
        if is_repeated {
            nonce.clone_from(&last);
        }
        last.clone_from(&nonce);
        if is_by_token {
            let token = hex(&self.random_bytes()?);
            self.nonces.keep(token.clone(), nonce.clone(), self.clock.elapsed());
            return Ok(models::started(&token, &nonce));
        }
        // Without a token the nonce is its own, and the login before it may still be under way.
        let nonces = if is_repeated { &self.repeated_nonces } else { &self.nonces };
        nonces.keep(base64(&nonce), nonce.clone(), self.clock.elapsed());
        Ok(answer::json(json!({ "nonce": base64(&nonce) }).to_string()))
    }

    /// A nonce that was signed: of that token, or the one that is sent along.
    pub(crate) async fn authenticate(&self, token: Option<&str>, body: &Bytes) -> Answered {
        let asked: AskedCompletion = read(body)?;
        let is_by_token = token.is_some();
        let sent = asked.nonce.as_deref().map(base64);
        let token = given(token.or(sent.as_deref()), "nonce")?;
        let now = self.clock.elapsed();
        let nonce = self.nonces.take(token, now).or_else(|| self.repeated_nonces.take(token, now));
        let nonce = nonce.ok_or_else(|| {
            Refusal::validation(
                "UncertifiedDateReference",
                "The nonce was not given, was used, or is expired",
            )
        })?;
        let signature = given(asked.signature, "signature")?;
        let verified = self
            .caller(asked.certificate, asked.ignore_revocation_status_unknown)
            .await
            .and_then(|caller| caller.verify(&nonce, &signature).map(|()| caller));
        match verified {
            Ok(_) if self.tells(PkiLieKind::AnotherCertificate, "a login") => {
                Ok(models::authenticated(&models::certificate(self.stranger.certificate())))
            }
            Ok(caller) => Ok(models::authenticated(&models::certificate(caller.certificate().der()))),
            // By a token that is said with a success (restpki-client 1.3.1, `Api/Authentications/{token}/SignedBytes`).
            Err(refusal) if is_by_token => match refusal.validation_results() {
                Some(results) => Ok(models::unauthenticated(results)),
                None => Err(refusal),
            },
            Err(refusal) => Err(refusal),
        }
    }

    /// Starts a CAdES signature.
    pub(crate) async fn start_cades(&self, body: &Bytes) -> Answered {
        let asked: AskedSignature = read(body)?;
        let has_timestamp = policy(&CADES_POLICIES, &asked.signature_policy_id)?;
        let caller = self.caller(asked.certificate, asked.ignore_revocation_status_unknown).await?;
        let profile = Profile::Cades { signing_time: self.clock.unix_ms() / 1000 };
        let lie = self.lie(has_timestamp, false);
        let certificate = self.certificate(&caller, lie)?;
        let (attributes, content) = match asked.data_hashes.as_deref() {
            Some(hashes) => (SignedAttributes::of_digest(&certificate, &sha256_of(hashes)?, profile), None),
            None => {
                let content = self.file(asked.file_to_sign)?;
                let attributes = attributes(&certificate, &[&content], profile, lie);
                (attributes, asked.encapsulate_content.unwrap_or(true).then_some(content))
            }
        };
        let content = content.map(StoredFile::of).transpose();
        let of = SignedThing::Cades(content.map_err(|why| Refusal::internal(&why))?);
        self.started(caller, attributes, of, (has_timestamp, asked.callback_argument, lie))
    }

    /// Starts a PAdES signature.
    pub(crate) async fn start_pades(&self, body: &Bytes) -> Answered {
        let asked: AskedSignature = read(body)?;
        let has_timestamp = policy(&PADES_POLICIES, &asked.signature_policy_id)?;
        let caller = self.caller(asked.certificate, asked.ignore_revocation_status_unknown).await?;
        let document = self.file(asked.pdf_to_sign)?;
        let lie = self.lie(has_timestamp, true);
        let revision = SignedRevision::behind(&document, &format!("D:{}", self.time_of_pdf()));
        let mut revision = revision.map_err(|why| Refusal::code("InvalidPdf", &why.to_string()))?;
        match lie {
            Some(PkiLieKind::ByteRangeHole) => revision.leave_out_more(),
            Some(PkiLieKind::ChangedDocument) => revision.change_document(),
            _ => {}
        }
        let attributes =
            attributes(&self.certificate(&caller, lie)?, &revision.signed(), Profile::Pades, lie);
        let document = StoredFile::of(revision.take_document());
        let of = SignedThing::Pades(revision, document.map_err(|why| Refusal::internal(&why))?);
        self.started(caller, attributes, of, (has_timestamp, asked.callback_argument, lie))
    }

    /// Finishes a signature with what its caller signed.
    pub(crate) fn finish(&self, token: &str, body: &Bytes) -> Answered {
        let asked: AskedCompletion = read(body)?;
        let mut signature = given(asked.signature, "signature")?;
        let started = self.signatures.take(token, self.clock.elapsed()).ok_or_else(Refusal::no_token)?;
        started.caller.verify(&started.to_be_signed, &signature)?;
        if started.lie == Some(PkiLieKind::AnotherSigner) {
            signature = self.stranger.signer().sign(&started.attributes.to_be_signed());
        }
        let now = self.clock.unix_ms() / 1000;
        let timestamp = match started.has_timestamp {
            true => self.timestamps.over(&signature, now, started.lie)?,
            false => None,
        };
        let around = Surroundings { timestamp: timestamp.as_deref(), ..Surroundings::default() };
        let (file, mime_type) = match started.of {
            SignedThing::Cades(content) => {
                let content = content.map(StoredFile::into_bytes).transpose();
                let content = content.map_err(|why| Refusal::internal(&why))?;
                let around = Surroundings { content: content.as_deref(), ..around };
                (started.attributes.signed(&signature, &around), "application/pkcs7-signature")
            }
            SignedThing::Pades(mut revision, document) => {
                revision.put_document(document.into_bytes().map_err(|why| Refusal::internal(&why))?);
                let cms = started.attributes.signed(&signature, &around);
                let file = revision.filled(&cms);
                (file.map_err(|why| Refusal::internal(&why))?, "application/pdf")
            }
        };
        if let Some(kind) = started.lie {
            self.lies.tell(LieRecord { kind, subject: token.to_owned(), serial: String::new() });
        }
        let file = match asked.force_blob_result.unwrap_or_default() {
            true => {
                let token = hex(&self.random_bytes()?);
                self.blobs.keep(token.clone(), &file).map_err(|why| Refusal::internal(&why))?;
                models::blob(&token, mime_type)
            }
            false => models::file(&file, mime_type),
        };
        Ok(models::signed(&file, started.callback.as_deref()))
    }

    /// A timestamp of a hash, in JSON.
    pub(crate) fn timestamp(&self, body: &Bytes) -> Answered {
        let asked: AskedHash = read(body)?;
        let hash = match asked.algorithm.to_ascii_uppercase().as_str() {
            "SHA256" => ImprintHash::Sha256,
            "SHA384" => ImprintHash::Sha384,
            "SHA512" => ImprintHash::Sha512,
            _ => return Err(Refusal::code("UnsupportedAlgorithm", &asked.algorithm)),
        };
        let imprint = from_base64(&asked.value).unwrap_or_default();
        if imprint.len() != hash.length() {
            return Err(Refusal::code("InvalidHash", "its length is not that of the algorithm"));
        }
        let stamp = StampRequest { hash, imprint, nonce: None, certificates: true };
        let token = self.stamped(&stamp, PkiLieKind::is_of_tokens, Timestamps::token)?;
        let info = json!({ "messageImprint": { "algorithm": asked.algorithm, "value": asked.value } });
        Ok(answer::json(json!({ "encodedValue": base64(&token), "info": info }).to_string()))
    }

    /// The response to a query (RFC 3161), a refusal too.
    pub(crate) fn timestamp_response(&self, body: &Bytes) -> Answered {
        let response = match StampRequest::from_der(body, POLICY) {
            Ok(query) => self.stamped(&query, PkiLieKind::is_of_timestamps, Timestamps::response)?,
            Err(refusal) => refusal.response(),
        };
        Ok(answer::ok("application/timestamp-reply", response))
    }

    /// What `made` makes of a request, by a lie that may be told of it where it is the turn of one.
    fn stamped(
        &self,
        asked: &StampRequest,
        can_be_told: impl Fn(PkiLieKind) -> bool,
        made: impl FnOnce(&Timestamps, &StampRequest, u64, Option<PkiLieKind>) -> Result<Vec<u8>, Refusal>,
    ) -> Result<Vec<u8>, Refusal> {
        let lie = self.lies.next_of(self.clock.elapsed(), can_be_told);
        let made = made(&self.timestamps, asked, self.clock.unix_ms() / 1000, lie)?;
        if let Some(kind) = lie {
            self.lies.tell(LieRecord { kind, subject: hex(&asked.imprint), serial: String::new() });
        }
        Ok(made)
    }

    fn started(
        &self,
        caller: Caller,
        attributes: SignedAttributes,
        of: SignedThing,
        (has_timestamp, callback, lie): (bool, Option<String>, Option<PkiLieKind>),
    ) -> Answered {
        let (token, to_be_signed) = (hex(&self.random_bytes()?), attributes.to_be_signed());
        let answer = models::started(&token, &to_be_signed);
        let started = StartedSignature { caller, attributes, to_be_signed, of, has_timestamp, callback, lie };
        self.signatures.keep(token, started, self.clock.elapsed());
        Ok(answer)
    }

    /// Who calls, once the list that its issuer revokes by is there, and does not have it; where the caller said so, also where there is none.
    async fn caller(&self, certificate: Option<Vec<u8>>, may_be_unknown: bool) -> Result<Caller, Refusal> {
        let certificate = given(certificate, "certificate")?;
        let caller = Caller::of(certificate, self.trusted.as_ref(), self.clock.unix_ms() / 1000)?;
        match self.revocation_fault(&caller).await {
            Some(fault) if !(may_be_unknown && fault.is_unknown()) => {
                Err(Refusal::validation(fault.kind(), &fault.to_string()))
            }
            _ => Ok(caller),
        }
    }

    /// What the list of revoked certificates of its issuer says against a certificate.
    pub(crate) async fn revocation_fault(&self, caller: &Caller) -> Option<RevocationFault> {
        self.revocation.check(caller, self.trusted.as_ref(), self.clock.as_ref()).await.err()
    }

    /// The certificate that the signature names.
    fn certificate(&self, caller: &Caller, lie: Option<PkiLieKind>) -> Result<SigningCertificate, Refusal> {
        match lie {
            Some(PkiLieKind::AnotherSigner) => {
                let own = SigningCertificate::new(self.stranger.certificate().to_vec());
                own.map_err(|why| Refusal::internal(&why))
            }
            _ => Ok(caller.certificate().clone()),
        }
    }

    fn lie(&self, has_timestamp: bool, is_pdf: bool) -> Option<PkiLieKind> {
        let can_be_told = |kind: PkiLieKind| {
            (has_timestamp || !kind.is_of_timestamps())
                && (is_pdf || !kind.is_of_documents())
                && kind.is_of_signatures()
        };
        self.lies.next_of(self.clock.elapsed(), can_be_told)
    }

    /// Whether that lie is to be told now, of that; it is told then.
    fn tells(&self, lie: PkiLieKind, subject: &str) -> bool {
        let is_told = self.lies.next_of(self.clock.elapsed(), |kind| kind == lie).is_some();
        if is_told {
            let subject = subject.to_owned();
            self.lies.tell(LieRecord { kind: lie, subject, serial: String::new() });
        }
        is_told
    }

    pub(crate) fn file(&self, asked: Option<AskedFile>) -> Result<Vec<u8>, Refusal> {
        let asked = given(asked, "file")?;
        match (asked.content, asked.blob_token) {
            (Some(content), _) => Ok(content),
            (None, Some(token)) => {
                let uploaded = self.blobs.take(&token).map_err(|why| Refusal::internal(&why))?;
                uploaded.ok_or_else(|| Refusal::code("BlobNotFound", &token))
            }
            (None, None) => given(None, "content or blobToken"),
        }
    }

    /// `YYYYMMDDHHMMSSZ`.
    fn time_of_pdf(&self) -> String {
        let time = hammer_lab_authority::der::generalized_time(self.clock.unix_ms() / 1000);
        String::from_utf8_lossy(&time[2..]).into_owned()
    }

    pub(crate) fn random_bytes(&self) -> Result<Vec<u8>, Refusal> {
        let mut bytes = vec![0; 16];
        let filled = self.random.fill(&mut bytes);
        filled.map_err(|_| Refusal::code("InternalError", "there is no randomness"))?;
        Ok(bytes)
    }
}

/// The attributes, or what a lie says of them.
fn attributes(
    certificate: &SigningCertificate,
    document: &[&[u8]],
    profile: Profile,
    lie: Option<PkiLieKind>,
) -> SignedAttributes {
    let signed: &[&[u8]] = match lie {
        Some(PkiLieKind::AnotherDocument) => &[b"another document"],
        _ => document,
    };
    let attributes = SignedAttributes::of(certificate, signed.iter().copied(), profile);
    match lie {
        Some(PkiLieKind::MissingAttribute) => attributes.without_certificate(),
        _ => attributes,
    }
}

/// The roots that signers have to lead to; none where the plan names none.
fn trusted(plan: &PkiLabPlan) -> Result<Option<TrustedAuthorities>, LabError> {
    let mut pem = plan.roots_pem.clone();
    for path in &plan.roots_pem_files {
        let read = std::fs::read_to_string(path);
        let file = |source| LabError::File { action: "read", path: path.clone(), source };
        pem += &read.map_err(file)?;
    }
    if pem.is_empty() && plan.roots_pem_files.is_empty() {
        return Ok(None);
    }
    let unusable = |why: &dyn std::fmt::Display| LabError::Plan {
        key: "roots_pem_files".into(),
        reason: why.to_string(),
    };
    TrustedAuthorities::from_pem(&pem).map(Some).map_err(|why| unusable(&why))
}

/// Whether signatures of that policy have a timestamp.
pub(crate) fn policy(known: &[(&str, bool)], id: &str) -> Result<bool, Refusal> {
    let found = known.iter().find(|(known, _)| *known == id);
    found.map(|(_, has)| *has).ok_or_else(|| Refusal::code("SignaturePolicyNotFound", id))
}

/// The SHA-256 among these hashes.
pub(crate) fn sha256_of(hashes: &[AskedHash]) -> Result<Vec<u8>, Refusal> {
    let found = hashes.iter().find(|hash| hash.algorithm == "SHA256");
    let found = found.and_then(|hash| from_base64(&hash.value).ok()).filter(|hash| hash.len() == 32);
    found.ok_or_else(|| Refusal::code("InvalidHash", "there is no SHA256 of 32 bytes"))
}

/// Rest PKI's policies of CAdES, and whether each has a timestamp.
pub(crate) const CADES_POLICIES: [(&str, bool); 3] = [
    ("a4522485-c9e5-46c3-950b-0d6e951e17d1", false),
    ("3ddd8001-1672-4eb5-a4a2-6e32b17ddc46", false),
    ("a5332ad1-d105-447c-a4bb-b5d02177e439", true),
];
/// The same of PAdES.
pub(crate) const PADES_POLICIES: [(&str, bool); 4] = [
    ("78d20b33-014d-440e-ad07-929f05d00cdf", false),
    ("3fec800c-366c-49bf-82c5-2e72154e70f6", false),
    ("6a39aeea-a2d0-4754-bf8c-19da15296ddb", true),
    ("10f0d9a5-a0a9-42e9-9523-e181ce05a25b", true),
];
const NO_ROOTS: &str =
    "a list is believed by the key of its issuer, and nobody is trusted: give `roots_pem_files`";
