//! Signatures made to cost whoever reads them: huge, or deeply nested. Alone in its process, since what is allocated is counted of all threads.

use std::alloc::System;
use std::borrow::Cow;
use std::path::PathBuf;

use hammer_cms::ber::to_der;
use hammer_cms::signature::{ExpectedSignature, KnownSigner, SignatureForm, SignatureVerifier};
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::der::{self, Tlv, write_header};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const HUGE: usize = 100 << 20;
/// The same where several copies of it are made here.
const LONG: usize = 10 << 20;
/// Elements where there should be one.
const MANY: usize = 300_000;
const DEPTH: usize = 10_000;
/// What a verifier may allocate whatever it is given: more than for a signature that holds, and nothing next to what came.
const MOST_ALLOCATED: usize = 256 << 10;
/// The type of a timestamp among unsigned attributes, id-aa-signatureTimeStampToken, as a whole element.
const SIGNATURE_TIMESTAMP: &[u8] =
    &[0x06, 0x0b, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x0e];

fn testdata(name: &str) -> Vec<u8> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/signatures").join(name);
    std::fs::read(&file).unwrap_or_else(|error| panic!("failed to read {}: {error}", file.display()))
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 6);
    write_header(&mut out, tag, content.len());
    out.extend_from_slice(content);
    out
}

/// An element in an element, as deep as that.
fn nested(tag: u8) -> Vec<u8> {
    // From the innermost header outwards, so that a deep one takes no longer to write than it is long.
    let mut reversed = Vec::new();
    for _ in 0..DEPTH {
        let mut header = Vec::new();
        write_header(&mut header, tag, reversed.len());
        reversed.extend(header.into_iter().rev());
    }
    reversed.reverse();
    reversed
}

/// The parts of a detached signature that holds, of which one is put in place of another.
#[derive(Clone)]
struct Parts {
    /// Version and digest algorithms, as they are.
    start: Vec<u8>,
    /// `eContent`, whole, where there is one.
    content: Vec<u8>,
    certificates: Vec<u8>,
    signers: Vec<u8>,
    /// The content of the signer's `unsignedAttrs`, which are not signed.
    unsigned: Vec<u8>,
}

const ID_DATA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
const ID_SIGNED_DATA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];

impl Parts {
    fn of(cms: &[u8]) -> Self {
        let mut info = Tlv::parse(cms, der::SEQUENCE).unwrap().content();
        info.read().unwrap();
        let signed_data = info.read().unwrap().content().read().unwrap();
        let mut fields = signed_data.content();
        let start = [fields.read().unwrap().raw, fields.read().unwrap().raw].concat();
        fields.expect(der::SEQUENCE).unwrap();
        let certificates = fields.expect(der::context(0)).unwrap().value.to_vec();
        let signer = Tlv::parse(fields.expect(der::SET).unwrap().value, der::SEQUENCE).unwrap();
        Self {
            start,
            content: Vec::new(),
            certificates,
            signers: signer.value.to_vec(),
            unsigned: Vec::new(),
        }
    }

    fn cms(&self) -> Vec<u8> {
        let unsigned = match &*self.unsigned {
            [] => Vec::new(),
            unsigned => element(der::context(1), unsigned),
        };
        self.with_signers(&element(der::SEQUENCE, &[&self.signers[..], &unsigned].concat()))
    }

    /// The same with these elements in the place of the signer.
    fn with_signers(&self, signers: &[u8]) -> Vec<u8> {
        let content = element(der::SEQUENCE, &[ID_DATA, &self.content].concat());
        let certificates = element(der::context(0), &self.certificates);
        let signed_data = element(
            der::SEQUENCE,
            &[&self.start[..], &content, &certificates, &element(der::SET, signers)].concat(),
        );
        let signed_data = element(der::context(0), &signed_data);
        element(der::SEQUENCE, &[ID_SIGNED_DATA, &signed_data].concat())
    }
}

/// Verifies signatures of the recorded signer.
struct Judge {
    document: Vec<u8>,
    signer: KnownSigner,
    verifier: SignatureVerifier,
}

impl Judge {
    fn new() -> Self {
        let roots = String::from_utf8(testdata("ca.pem")).unwrap();
        let roots = TrustedAuthorities::from_pem(&roots).unwrap();
        Self {
            document: testdata("document"),
            signer: KnownSigner::new(testdata("signer-p256.der")).unwrap(),
            verifier: SignatureVerifier::new(Some(roots)),
        }
    }

    fn verify(&mut self, cms: &[u8], has_timestamp: bool) -> Result<(), &'static str> {
        let expected = ExpectedSignature {
            document: &[&self.document],
            signer: &self.signer,
            form: SignatureForm::CadesDetached,
            has_timestamp,
            not_before_ms: None,
            not_after_ms: None,
        };
        self.verifier.verify(cms, &expected).map(drop).map_err(|fault| fault.kind())
    }

    /// The same, where what that allocates is held against the bound.
    fn found(&mut self, cms: &[u8], has_timestamp: bool) -> Result<(), &'static str> {
        let region = Region::new(ALLOCATOR);
        let found = self.verify(cms, has_timestamp);
        let allocated = region.change().bytes_allocated;
        assert!(allocated < MOST_ALLOCATED, "{allocated} bytes for a signature of {}: {found:?}", cms.len());
        found
    }
}

/// Bytes that are allocated for reading this as BER, and whether it was.
fn allocated_for_ber(bytes: &[u8]) -> (usize, bool) {
    let region = Region::new(ALLOCATOR);
    let is_written = matches!(to_der(bytes), Cow::Owned(_));
    (region.change().bytes_allocated, is_written)
}

fn ber_that_is_huge_or_deeply_nested_allocates_no_more_than_it_is_long() {
    let in_one = |tag: u8, content: &[u8]| [&[tag, 0x80][..], content, &[0, 0]].concat();
    let piece = element(der::OCTET_STRING, &[7; 1000]);
    let huge = in_one(0x24, &piece.repeat(HUGE / piece.len()));
    let (allocated, is_written) = allocated_for_ber(&huge);
    assert!(is_written && allocated <= huge.len() + MOST_ALLOCATED, "{allocated}");
    let whole = in_one(der::SEQUENCE, &element(der::OCTET_STRING, &vec![7; HUGE]));
    let (allocated, is_written) = allocated_for_ber(&whole);
    assert!(is_written && allocated <= whole.len() + MOST_ALLOCATED, "{allocated}");
    drop((huge, whole));
    for tag in [der::SEQUENCE, der::context(0), 0x24] {
        let deep = [[tag, 0x80].repeat(DEPTH), vec![0; 2 * DEPTH]].concat();
        for deep in [nested(tag), deep, [tag, 0x80].repeat(DEPTH)] {
            let (allocated, is_written) = allocated_for_ber(&deep);
            assert!(!is_written && allocated < MOST_ALLOCATED, "{allocated}");
        }
    }
    for inner in [&[0x30, 0][..], &[5, 0], &[0x24, 0], &[0x30, 0x80, 0, 0], &[0x30, 0x84, 0, 0, 0, 0]] {
        let many = in_one(der::SEQUENCE, &inner.repeat(HUGE / inner.len()));
        let (allocated, is_written) = allocated_for_ber(&many);
        assert!(!is_written && allocated < HUGE / 4, "{allocated}");
    }
    for bytes in [vec![0; HUGE], vec![0x30; HUGE], vec![0xff; HUGE]] {
        let (allocated, is_written) = allocated_for_ber(&bytes);
        assert!(!is_written && allocated < MOST_ALLOCATED, "{allocated}");
    }
}

#[test]
fn what_is_made_to_cost_whoever_reads_it_costs_no_more_than_it_is_long() {
    // One after the other: what is allocated is counted of all threads.
    ber_that_is_huge_or_deeply_nested_allocates_no_more_than_it_is_long();
    a_signature_that_is_huge_or_deeply_nested_ends_as_what_it_is_and_allocates_next_to_nothing();
}

fn a_signature_that_is_huge_or_deeply_nested_ends_as_what_it_is_and_allocates_next_to_nothing() {
    let whole = Parts::of(&testdata("openssl-p256-detached.p7s"));
    let mut judge = Judge::new();
    // What is computed once for a key is not of a signature.
    assert_eq!(judge.verify(&whole.cms(), false), Ok(()));
    assert_eq!(judge.found(&whole.cms(), false), Ok(()));
    let stamped = |token: &[u8]| {
        let token = [SIGNATURE_TIMESTAMP, &element(der::SET, token)].concat();
        Parts { unsigned: element(der::SEQUENCE, &token), ..whole.clone() }.cms()
    };
    assert_eq!(judge.found(&stamped(&[0x30, 0]), false), Ok(()));

    // No signed data at all.
    let indefinite: Vec<u8> = [0x30, 0x80].repeat(DEPTH);
    for cms in [vec![0; HUGE], nested(der::SEQUENCE), nested(der::context(0)), indefinite.clone()] {
        assert_eq!(judge.found(&cms, false), Err("malformed-signature"));
    }
    // In the place of the content, of which there should be none.
    let long = element(der::SEQUENCE, &vec![0; LONG]);
    for content in [&element(der::OCTET_STRING, &vec![0; HUGE]), &nested(der::OCTET_STRING)] {
        let cms = Parts { content: element(der::context(0), content), ..whole.clone() }.cms();
        assert_eq!(judge.found(&cms, false), Err("another-document"));
    }
    // Beside the signer's certificate: nobody trusts them, and nothing is said against what is signed.
    for others in [&long, &nested(der::SEQUENCE), &[0x30, 0].repeat(MANY)] {
        let certificates = [&others[..], &whole.certificates].concat();
        assert_eq!(judge.found(&Parts { certificates, ..whole.clone() }.cms(), false), Ok(()));
    }
    for others in [&indefinite, &vec![0xff; LONG]] {
        let cms = Parts { certificates: others.clone(), ..whole.clone() }.cms();
        assert_eq!(judge.found(&cms, false), Err("malformed-signature"));
    }
    // More signers than one.
    let signer = element(der::SEQUENCE, &whole.signers);
    assert_eq!(judge.found(&whole.with_signers(&signer.repeat(MANY / 100)), false), Err("another-signer"));
    for signers in [&long, &nested(der::SEQUENCE)] {
        assert_eq!(judge.found(&whole.with_signers(signers), false), Err("malformed-signature"));
    }
    // In the place of its timestamp, and beside it.
    for (token, kind) in [
        (&long, "malformed-timestamp"),
        (&nested(der::SEQUENCE), "malformed-timestamp"),
        (&[0x30, 0].repeat(MANY), "signature-attributes"),
    ] {
        assert_eq!(judge.found(&stamped(token), true), Err(kind));
    }
    let other = element(der::SEQUENCE, &[ID_DATA, &element(der::SET, &[])].concat());
    let cms = Parts { unsigned: other.repeat(MANY), ..whole }.cms();
    assert_eq!(judge.found(&cms, true), Err("missing-timestamp"));
}
