//! Signatures of documents: nothing is believed but what a recorded signer did sign.

use std::borrow::Cow;
use std::sync::LazyLock;

use hammer_cms::ber::to_der;
use hammer_cms::signature::{ExpectedSignature, KnownSigner, SignatureForm, SignatureVerifier};
use hammer_cms::signed_data::SignedData;
use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampVerifier};
use hammer_pdf::document::Document;
use hammer_pdf::signed::{LastSignature, PdfSignature};
use hammer_tlog::keys::chain::TrustedAuthorities;

/// A CMS that holds has the signed attributes of a recorded one, byte for byte; its timestamp, where that holds, is a recorded one of it.
pub(crate) fn cms(data: &[u8]) -> bool {
    let forms = [SignatureForm::CadesDetached, SignatureForm::CadesEnveloping];
    let believed = SIGNERS.iter().any(|signer| {
        forms.into_iter().any(|form| {
            let holds = |has_timestamp| verify(data, &[DOCUMENT], (signer, form, has_timestamp));
            assert!(
                !verify(data, &[b"another document"], (signer, form, false)),
                "it is over one document alone"
            );
            let is_stamped = holds(true);
            // One with a timestamp holds without it being looked at.
            assert!(!is_stamped || holds(false));
            assert!(!is_stamped || signature_timestamp(data).is_some_and(is_recorded_token));
            holds(false)
        })
    });
    if believed {
        let known = RSA.iter().chain(&P256).any(|known| attributes(known) == attributes(data));
        assert!(known, "nobody signed these attributes");
    }
    believed
}

/// BER that becomes DER stays that, says no more, and is believed for what a recorded signer did sign alone.
pub(crate) fn ber(data: &[u8]) -> bool {
    let Cow::Owned(der) = to_der(data) else { return false };
    assert_eq!(to_der(&der), Cow::Borrowed(&*der), "it is DER");
    // A length of three bytes is one more than its indefinite form and two zeros took.
    assert!(der.len() <= data.len() + data.len() / 0x8000 + 64, "{} bytes of {}", der.len(), data.len());
    cms(&der)
}

/// The token of a timestamp, as it stands in a signature or comes without a status: one that holds is a recorded one, and over one signature
/// alone.
pub(crate) fn timestamp(data: &[u8]) -> bool {
    let mut verifier = TimestampVerifier::new(TRUSTED.clone());
    let mut holds = |imprint| {
        let expected = ExpectedTimestamp { imprint, nonce: None, not_before_ms: None, not_after_ms: None };
        verifier.verify_token(data, &expected).is_ok()
    };
    let over = STAMPED.map(|cms| holds(ExpectedImprint::Message(signature(cms).expect("a signature"))));
    assert!(!holds(ExpectedImprint::Message(b"another signature")));
    let believed = over.contains(&true);
    assert!(!believed || is_recorded_token(data) && over != [true; 2]);
    believed
}

/// A PDF behind what was sent: where a signature is found in it, all else is signed, and one that holds is recorded.
pub(crate) fn pdf(data: &[u8]) -> bool {
    let sent = Document::new(7, 3, 2_048).expect("a document");
    let file = [&sent.to_vec()[..], data].concat();
    if let Ok(last) = LastSignature::read(&file) {
        let is_covered = |at: usize| at < last.end && !last.gap.contains(&at);
        let streams = last.streams(&file);
        assert!(streams.into_iter().all(|stream| is_covered(stream.start) && is_covered(stream.end - 1)));
    }
    let Ok(found) = PdfSignature::read(&file, &sent) else { return false };
    let signed = found.signed(&file);
    assert_eq!(signed[0].len() + found.gap.len() + signed[1].len(), file.len());
    assert!(signed[0].len() >= 2_048);
    let believed = verify(&found.contents, &signed, (&SIGNER_OF_PDF, SignatureForm::Pades, false));
    let is_recorded = |appended: &&[u8]| {
        let recorded = [&sent.to_vec()[..], appended].concat();
        PdfSignature::read(&recorded, &sent).is_ok_and(|known| known.signed(&recorded) == signed)
    };
    assert!(!believed || RECORDED_PDF.iter().any(is_recorded), "nobody signed this document");
    believed
}

fn verify(
    cms: &[u8],
    document: &[&[u8]],
    (signer, form, has_timestamp): (&KnownSigner, SignatureForm, bool),
) -> bool {
    let expected =
        ExpectedSignature { document, signer, form, has_timestamp, not_before_ms: None, not_after_ms: None };
    SignatureVerifier::new(Some(TRUSTED.clone())).verify(cms, &expected).is_ok()
}

fn attributes(cms: &[u8]) -> Option<Vec<u8>> {
    Some(SignedData::parse(cms).ok()?.signer_infos.only()?.attributes().ok()?.message())
}

fn signature(cms: &[u8]) -> Option<&[u8]> {
    Some(SignedData::parse(cms).ok()?.signer_infos.only()?.signature)
}

fn signature_timestamp(cms: &[u8]) -> Option<&[u8]> {
    SignedData::parse(cms).ok()?.signer_infos.only()?.signature_timestamp().ok()?
}

/// Whether the content of a token is that of a recorded one, byte for byte.
fn is_recorded_token(token: &[u8]) -> bool {
    let content = |token| SignedData::parse(token).ok()?.content;
    STAMPED.iter().any(|cms| signature_timestamp(cms).and_then(content) == content(token))
}

const DOCUMENT: &[u8] = include_bytes!("../../hammer-cms/testdata/signatures/document");
const RSA: [&[u8]; 5] = [
    include_bytes!("../../../fuzz/seeds/signature/dss-b-detached.p7s"),
    include_bytes!("../../../fuzz/seeds/signature/dss-b-enveloping.p7m"),
    include_bytes!("../../../fuzz/seeds/signature/dss-t-enveloping.p7m"),
    include_bytes!("../../../fuzz/seeds/signature/pyhanko-b-enveloping.p7m"),
    include_bytes!("../../../fuzz/seeds/signature/pyhanko-t-enveloping.p7m"),
];
/// Those with a timestamp.
const STAMPED: [&[u8]; 2] = [RSA[2], RSA[4]];
const P256: [&[u8]; 2] = [
    include_bytes!("../../../fuzz/seeds/signature/openssl-p256-detached.p7s"),
    include_bytes!("../../../fuzz/seeds/signature/openssl-p256-enveloping.p7m"),
];
/// What was appended to the document.
const RECORDED_PDF: [&[u8]; 4] = [
    include_bytes!("../../../fuzz/seeds/signed_pdf/dss-b.pdf"),
    include_bytes!("../../../fuzz/seeds/signed_pdf/dss-t.pdf"),
    include_bytes!("../../../fuzz/seeds/signed_pdf/pyhanko-b.pdf"),
    include_bytes!("../../../fuzz/seeds/signed_pdf/pyhanko-t.pdf"),
];

static TRUSTED: LazyLock<TrustedAuthorities> = LazyLock::new(|| {
    let pem = include_str!("../../hammer-cms/testdata/signatures/ca.pem");
    TrustedAuthorities::from_pem(pem).expect("a root")
});
static SIGNER_OF_PDF: LazyLock<KnownSigner> = LazyLock::new(|| {
    let der = include_bytes!("../../hammer-pdf/testdata/signer.der");
    KnownSigner::new(der.to_vec()).expect("a signer")
});
static SIGNERS: LazyLock<[KnownSigner; 2]> = LazyLock::new(|| {
    let signers: [&[u8]; 2] = [
        include_bytes!("../../hammer-cms/testdata/signatures/signer-rsa.der"),
        include_bytes!("../../hammer-cms/testdata/signatures/signer-p256.der"),
    ];
    signers.map(|der| KnownSigner::new(der.to_vec()).expect("a signer"))
});
