//! What must hold for any bytes.

use hammer_tlog::ct::bundle::{Entries, Entry};
use hammer_tlog::ct::log_list::Log;
use hammer_tlog::ct::names;
use hammer_tlog::ct::precert::{precert_tbs, precert_tbs_by_signing_certificate, signed_entry};
use hammer_tlog::ct::rfc6962::{
    EntryType, ExtraData, MerkleTreeLeaf, SignedEntry, encode_precert_chain_entry, encode_x509_chain_entry,
    leaf_index, leaf_index_extension,
};
use hammer_tlog::ct::sct::Sct;
use hammer_tlog::encoding::{base64, from_base64};
use hammer_tlog::keys::certificate::{Certificate, GeneralNames};
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::der;
use hammer_tlog::keys::digest::DigestAlgorithm;
use hammer_tlog::keys::key::{DigitallySigned, LogKey};
use hammer_tlog::keys::scheme::SignatureScheme;
use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::logs::note::{self, Checkpoint, Note, NoteSignature, Verifier};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{gunzip, testdata};

/// The base64 of the first certificate of a PEM.
fn pem_body(path: &str) -> String {
    let pem = String::from_utf8(testdata(path)).unwrap();
    pem.lines().skip(1).take_while(|line| !line.starts_with('-')).collect()
}

/// Any bytes, and real ones that are cut, altered or both.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let seeds = [
        testdata("tesseract/01-x509.response"),
        testdata("tesseract/root.der"),
        testdata("sigstore/fulcio-chain.pem"),
        from_base64(pem_body("sigstore/fulcio-chain.pem")).unwrap(),
        testdata("openssl/precert-with-identifier.der"),
        testdata("openssl/signing-certificate-with-identifier.der"),
        testdata("sunlight/checkpoint"),
        testdata("sunlight/log.v3.json"),
        gunzip(&testdata("sunlight/tile/data/002.p/2")),
        from_base64(testdata("tesseract/log-public-key.b64")).unwrap(),
    ];
    let altered =
        (prop::sample::select(seeds.to_vec()), vec((any::<prop::sample::Index>(), any::<u8>()), 0..4));
    let altered =
        (altered, any::<prop::sample::Index>(), any::<bool>()).prop_map(|((mut seed, edits), cut, whole)| {
            for (at, byte) in edits {
                let at = at.index(seed.len());
                seed[at] = byte;
            }
            if !whole {
                seed.truncate(cut.index(seed.len()));
            }
            seed
        });
    prop_oneof![1 => vec(any::<u8>(), 0..300), 3 => altered]
}

fn entry() -> impl Strategy<Value = SignedEntry> {
    let content = || vec(any::<u8>(), 0..400);
    prop_oneof![
        content().prop_map(|certificate| SignedEntry::X509 { certificate }),
        (any::<[u8; 32]>(), content()).prop_map(|(hash, tbs_certificate)| SignedEntry::Precert {
            issuer_key_hash: Hash(hash),
            tbs_certificate
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_parser_panics(bytes in bytes(), other in bytes()) {
        let _ = Sct::from_json(&bytes).map(|sct| sct.leaf_index());
        let _ = Certificate::parse(&bytes).map(|certificate| {
            (certificate.not_before_seconds(), certificate.not_after_seconds(), certificate.is_ca(),
                certificate.is_precert_signing(), certificate.extensions.count(),
                certificate.key_usage().is_ok(), certificate.basic_constraints().is_ok(),
                certificate.subject_alternative_names().count())
        });
        let _ = precert_tbs(&bytes);
        let _ = precert_tbs_by_signing_certificate(&bytes, &other);
        let _ = signed_entry(&[&bytes, &other, &other], EntryType::Precert);
        let _ = LogKey::from_der(&bytes);
        let _ = (SignatureScheme::from_identifier(&bytes), DigestAlgorithm::from_identifier(&bytes));
        let _ = TrustedAuthorities::from_der([bytes.clone(), other.clone()]);
        let _ = GeneralNames::parse(&bytes).map(Iterator::count);
        let _ = Note::parse(&bytes).map(|note| Checkpoint::parse(note.text));
        let _ = Log::from_json(&bytes);
        let _ = MerkleTreeLeaf::parse(&bytes);
        let _ = ExtraData::parse(EntryType::X509, &bytes);
        let _ = ExtraData::parse(EntryType::Precert, &bytes);
        let _ = DigitallySigned::parse(&bytes);
        let _ = leaf_index(&bytes);
        let _ = Entries::new(&bytes).count();
        let _ = names::lines(&bytes).count();
        let _ = der::DerReader::new(&bytes).read();
        let text = String::from_utf8_lossy(&bytes);
        let _ = text.parse::<LogKey>();
        let _ = TrustedAuthorities::from_pem(&text);
        let _ = Verifier::parse(&text);
        let _ = Checkpoint::parse(&text);
    }

    #[test]
    fn a_certificate_that_is_read_is_made_of_its_parts(bytes in bytes()) {
        if let Ok(certificate) = Certificate::parse(&bytes) {
            prop_assert_eq!(certificate.raw, bytes.as_slice());
            let mut content = certificate.tbs.to_vec();
            content.extend_from_slice(certificate.signature_algorithm);
            let bits = [&[0], certificate.signature].concat();
            der::write(&mut content, der::BIT_STRING, &bits);
            let mut whole = Vec::new();
            der::write(&mut whole, der::SEQUENCE, &content);
            prop_assert_eq!(whole, bytes);
        }
    }

    #[test]
    fn a_leaf_reads_back(timestamp_ms: u64, entry in entry(), extensions in vec(any::<u8>(), 0..20)) {
        let leaf = MerkleTreeLeaf { timestamp_ms, entry: entry.by_ref(), extensions: &extensions };
        let bytes = leaf.encode().unwrap();
        prop_assert_eq!(MerkleTreeLeaf::parse(&bytes).unwrap(), leaf);
        prop_assert_eq!(leaf.leaf_hash().unwrap(), hammer_tlog::logs::merkle::leaf_hash(&bytes));
        prop_assert!(MerkleTreeLeaf::parse(&bytes[..bytes.len() - 1]).is_err());
        prop_assert!(MerkleTreeLeaf::parse(&[bytes.as_slice(), &[0]].concat()).is_err());
        prop_assert_eq!(entry.by_ref().to_owned(), entry);
    }

    #[test]
    fn a_bundle_reads_back(entries in vec((any::<u64>(), entry(), vec(any::<[u8; 32]>(), 0..4)), 0..6)) {
        let entries = entries.iter().enumerate().map(|(index, (timestamp_ms, signed, fingerprints))| {
            (*timestamp_ms, signed, leaf_index_extension(index as u64).unwrap(), fingerprints)
        }).collect::<Vec<_>>();
        let entries = entries.iter().map(|(timestamp_ms, signed, extensions, fingerprints)| {
            let precert = matches!(signed, SignedEntry::Precert { .. }).then_some(extensions.as_slice());
            Entry {
                timestamp_ms: *timestamp_ms,
                signed: signed.by_ref(),
                extensions,
                pre_certificate: precert,
                fingerprints,
            }
        }).collect::<Vec<_>>();
        let mut bundle = Vec::new();
        entries.iter().for_each(|entry| entry.encode(&mut bundle).unwrap());
        prop_assert_eq!(Entries::new(&bundle).collect::<Result<Vec<_>, _>>().unwrap(), entries);
    }

    #[test]
    fn extra_data_reads_back(pre_certificate in vec(any::<u8>(), 0..50), chain in vec(vec(any::<u8>(), 0..50), 0..4)) {
        let bytes = encode_x509_chain_entry(&chain).unwrap();
        let extra = ExtraData::parse(EntryType::X509, &bytes).unwrap();
        prop_assert!(extra.chain().eq(chain.iter().map(Vec::as_slice)));
        let bytes = encode_precert_chain_entry(&pre_certificate, &chain).unwrap();
        let extra = ExtraData::parse(EntryType::Precert, &bytes).unwrap();
        prop_assert!(extra.chain().eq(chain.iter().map(Vec::as_slice)));
        let read = matches!(extra, ExtraData::Precert { pre_certificate: read, .. } if read == pre_certificate);
        prop_assert!(read);
    }

    #[test]
    fn a_leaf_index_reads_back_below_two_to_the_forty(index in 0_u64..1 << 40, beyond in 1_u64 << 40..) {
        prop_assert_eq!(leaf_index(&leaf_index_extension(index).unwrap()), Ok(Some(index)));
        prop_assert!(leaf_index_extension(beyond).is_err());
        let unknown = [[9, 0, 1, 7].as_slice(), &leaf_index_extension(index).unwrap()].concat();
        prop_assert_eq!(leaf_index(&unknown), Ok(Some(index)));
        prop_assert!(leaf_index(&leaf_index_extension(index).unwrap().repeat(2)).is_err());
    }

    #[test]
    fn a_note_reads_back(
        size: u64, root: [u8; 32], key_id: u32, signature in vec(any::<u8>(), 1..80), name in "[a-z./]{1,20}",
    ) {
        let checkpoint = Checkpoint::new(name.clone(), size, Hash(root));
        let line = NoteSignature { name: &name, key_id, signature };
        let text = note::format(&checkpoint.to_string(), &[line.clone(), line.clone()]);
        let note = Note::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(Checkpoint::parse(note.text).unwrap(), checkpoint);
        prop_assert_eq!(note.signatures, [line.clone(), line]);
    }

    #[test]
    fn an_element_reads_back(content in vec(any::<u8>(), 0..400), length in 0_usize..1 << 24) {
        let mut out = Vec::new();
        der::write(&mut out, der::SEQUENCE, &content);
        prop_assert_eq!(out.len(), der::element_length(content.len()));
        prop_assert_eq!(der::Tlv::parse(&out, der::SEQUENCE).unwrap().value, content.as_slice());
        let mut header = Vec::new();
        der::write_header(&mut header, der::SEQUENCE, length);
        prop_assert_eq!(header.len() + length, der::element_length(length));
        prop_assert_eq!(from_base64(base64(&content)).unwrap(), content);
    }
}
