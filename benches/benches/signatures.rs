//! What a signature over a document of 137 KiB is made of on hammer's side: the document, its base64, its hash, the signature by ring, the
//! answer with the file, and its verification.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use hammer_cms::signature::{ExpectedSignature, KnownSigner, SignatureForm, SignatureVerifier};
use hammer_lab_authority::certificate::name;
use hammer_lab_authority::der::UTF8_STRING;
use hammer_lab_authority::{Authority, LabSigner};
use hammer_lab_pki::advanced_signature::{Profile, SignedAttributes, SigningCertificate, Surroundings};
use hammer_lab_pki::signed_revision::SignedRevision;
use hammer_net::BodySource as _;
use hammer_pdf::document::Document;
use hammer_pdf::signed::PdfSignature;
use hammer_pki::InlineDocument;
use hammer_pki::rest_pki::Finished;
use hammer_synth::{Algorithm, Seed, Signer as _, ThrowawayKey};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};

/// What it was in the published test of such a service.
const LENGTH: u64 = 137 << 10;
/// 2026-11-27.
const NOW: u64 = 1_795_737_600;

/// A document, and what a service made of it by P-256.
struct Signed {
    sent: Document,
    signer: KnownSigner,
    cades: Vec<u8>,
    pades: Vec<u8>,
}

impl Signed {
    fn new() -> Self {
        let sent = Document::new(7, 11, LENGTH).expect("it is long enough");
        let key = LabSigner::p256("signer", 1).expect("a key");
        let signer = Authority::root(key, name(UTF8_STRING, "bench", "signer"), None, NOW);
        let certificate = SigningCertificate::new(signer.certificate().to_vec()).expect("a certificate");
        let signed = |attributes: &SignedAttributes, content: Option<&[u8]>| {
            let signature = signer.signer().sign(&attributes.to_be_signed());
            attributes.signed(&signature, &Surroundings { content, ..Surroundings::default() })
        };
        let document = sent.to_vec();
        let profile = Profile::Cades { signing_time: NOW };
        let cades =
            signed(&SignedAttributes::of(&certificate, [&document[..]], profile), Some(document.as_slice()));
        let revision = SignedRevision::behind(&document, "D:20261127000000Z").expect("a document");
        let attributes = SignedAttributes::of(&certificate, revision.signed(), Profile::Pades);
        let pades = revision.filled(&signed(&attributes, None)).expect("room for it");
        let signer = KnownSigner::new(signer.certificate().to_vec()).expect("a certificate");
        Self { sent, signer, cades, pades }
    }

    fn verify(&self, verifier: &mut SignatureVerifier, cms: &[u8], document: &[&[u8]], form: SignatureForm) {
        let expected = ExpectedSignature {
            document,
            signer: &self.signer,
            form,
            has_timestamp: false,
            not_before_ms: None,
            not_after_ms: None,
        };
        verifier.verify(cms, &expected).expect("it holds");
    }
}

fn signatures(c: &mut Criterion) {
    let mut group = c.benchmark_group("signatures");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    sign(&mut group);
    let signed = Signed::new();
    documents(&mut group, &signed.sent);
    files(&mut group, &signed);
    group.finish();
}

fn sign(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (message, mut signature) = ([7; 200], Vec::new());
    let rsa = ThrowawayKey::derive(&Seed::from_u64(1), Algorithm::Rsa2048, "bench", 0);
    group.bench_function("sign/rsa2048", |b| {
        b.iter(|| {
            signature.clear();
            rsa.sign(black_box(&message), &mut signature);
        });
    });
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).expect("a key");
    let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random).expect("one");
    group.bench_function("sign/p256", |b| {
        b.iter(|| p256.sign(&random, black_box(&message)).expect("a signature"));
    });
}

fn documents(group: &mut BenchmarkGroup<'_, WallTime>, sent: &Document) {
    let mut out = Vec::new();
    group.bench_function("document/made", |b| {
        b.iter(|| {
            out.clear();
            sent.append(0..sent.len(), &mut out);
            black_box(&out);
        });
    });
    group.bench_function("document/sha256", |b| b.iter(|| digest(&SHA256, black_box(&out))));
    let inline = InlineDocument::new(sent.clone());
    let mut text = Vec::new();
    group.bench_function("document/made_in_base64", |b| {
        b.iter(|| {
            text.clear();
            inline.append(0..inline.length(), &mut text);
            black_box(&text);
        });
    });
}

fn files(group: &mut BenchmarkGroup<'_, WallTime>, signed: &Signed) {
    let sent = &signed.sent;
    let answer = answer(&InlineDocument::new(sent.clone()));
    group.bench_function("answer/read", |b| {
        b.iter(|| Finished::read(black_box(&answer)).expect("an answer"));
    });
    let (mut verifier, mut document) = (SignatureVerifier::new(None), Vec::new());
    group.bench_function("verify/cades_p256", |b| {
        b.iter(|| {
            document.clear();
            sent.append(0..sent.len(), &mut document);
            signed.verify(&mut verifier, &signed.cades, &[&document], SignatureForm::CadesEnveloping);
        });
    });
    group.bench_function("verify/pades_p256", |b| {
        b.iter(|| {
            let found = PdfSignature::read(&signed.pades, sent).expect("a signature");
            let pieces = found.signed(&signed.pades);
            signed.verify(&mut verifier, &found.contents, &pieces, SignatureForm::Pades);
        });
    });
}

/// The answer that finishes a signature, with a file of that length in it.
fn answer(file: &InlineDocument) -> Vec<u8> {
    let mut answer = br#"{"signatureFile":{"mimeType":"application/pkcs7-mime","content":""#.to_vec();
    file.append(0..file.length(), &mut answer);
    answer.extend_from_slice(br#"","blobToken":null,"url":null}}"#);
    answer
}

criterion_group!(benches, signatures);
criterion_main!(benches);
