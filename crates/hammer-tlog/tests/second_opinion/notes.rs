//! Notes, as another implementation has them.

use hammer_tlog::encoding::base64;
use hammer_tlog::hash::{Hash, sha256};
use hammer_tlog::logs::note::{
    Checkpoint, Note, NoteError, NoteSignature, Verifier, ed25519_key_id, format as format_note,
    rfc6962_key_id,
};
use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use signed_note::{StandardSigner, StandardVerifier, VerifierList};

use crate::altered::{altered, edits};
use crate::twin::theirs;

/// One Ed25519 key, in both implementations.
struct TwinSigner {
    name: String,
    pair: Ed25519KeyPair,
    /// `name+id+key`.
    vkey: String,
    theirs: StandardSigner,
}

impl TwinSigner {
    fn new(name: &str, seed: [u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
        let public: [u8; 32] = pair.public_key().as_ref().try_into().unwrap();
        let id = ed25519_key_id(name, &public);
        let vkey = format!("{name}+{id:08x}+{}", base64(&[&[1], public.as_slice()].concat()));
        let skey = format!("PRIVATE+KEY+{name}+{id:08x}+{}", base64(&[&[1], seed.as_slice()].concat()));
        // It computes the id of the key by itself, and refuses another.
        let theirs = StandardSigner::new(&skey).unwrap();
        Self { name: name.to_owned(), pair, vkey, theirs }
    }

    fn sign(&self, text: &str) -> String {
        let signature = self.pair.sign(text.as_bytes()).as_ref().to_vec();
        let key_id = signed_note::Signer::key_id(&self.theirs);
        format_note(text, &[NoteSignature { name: &self.name, key_id, signature }])
    }

    fn verifier(&self) -> Verifier {
        Verifier::parse(&self.vkey).unwrap()
    }

    fn verifies_by_the_other(&self, note: &[u8]) -> bool {
        let known = VerifierList::new(vec![Box::new(StandardVerifier::new(&self.vkey).unwrap())]);
        signed_note::Note::from_bytes(note).is_ok_and(|note| note.verify(&known).is_ok())
    }
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9./:äß—-]{1,20}"
}

fn text() -> impl Strategy<Value = String> {
    "[ -~äß—\n]{0,80}\n"
}

/// The text of a note, and the whole note written again, by the other implementation.
fn read_by_the_other(note: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let note = signed_note::Note::from_bytes(note).ok()?;
    Some((note.text().to_vec(), note.to_bytes()))
}

/// The same by ours.
fn read_by_us(note: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let note = Note::parse(note).ok()?;
    Some((note.text.as_bytes().to_vec(), format_note(note.text, &note.signatures).into_bytes()))
}

fn checkpoint() -> impl Strategy<Value = Checkpoint> {
    let extensions = prop::collection::vec("[ -~ä]{1,20}", 0..3);
    (name(), any::<u64>(), any::<u32>(), any::<[u8; 32]>(), extensions).prop_map(
        |(origin, size, shift, root, extensions)| {
            let size = size >> (shift % 64);
            Checkpoint { extensions, ..Checkpoint::new(origin, size, Hash(root)) }
        },
    )
}

fn same(checkpoint: &Checkpoint) -> tlog_tiles::Checkpoint {
    let extensions: String = checkpoint.extensions.iter().map(|line| format!("{line}\n")).collect();
    let root = theirs(checkpoint.root);
    tlog_tiles::Checkpoint::new(&checkpoint.origin, checkpoint.size, root, &extensions).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_key_has_the_same_id(name in name(), key: [u8; 32], log_id: [u8; 32]) {
        let others = |algorithm: u8, key: &[u8]| signed_note::key_id(&name, &[&[algorithm], key].concat());
        prop_assert_eq!(ed25519_key_id(&name, &key), others(1, &key));
        prop_assert_eq!(rfc6962_key_id(&name, &Hash(log_id)), others(5, &log_id));
    }

    #[test]
    fn what_one_reads_as_a_verifier_the_other_reads(name in name(), seed: [u8; 32], edits in edits()) {
        let signer = TwinSigner::new(&name, seed);
        let verifier = signer.verifier();
        prop_assert_eq!(verifier.name(), signed_note::Signer::name(&signer.theirs));
        prop_assert_eq!(verifier.key_id(), signed_note::Signer::key_id(&signer.theirs));
        if let Ok(vkey) = String::from_utf8(altered(signer.vkey.as_bytes(), &edits)) {
            prop_assert_eq!(Verifier::parse(&vkey).is_ok(), StandardVerifier::new(&vkey).is_ok(), "{}", vkey);
        }
    }

    #[test]
    fn what_one_reads_and_verifies_as_a_note_the_other_does(
        name in name(), seeds in any::<[[u8; 32]; 2]>(), text in text(), edits in edits(),
    ) {
        let (signer, witness) = (TwinSigner::new(&name, seeds[0]), TwinSigner::new("witness", seeds[1]));
        let both = signer.sign(&text) + witness.sign(&text).strip_prefix(&format!("{text}\n")).unwrap();
        let note = altered(both.as_bytes(), &edits);
        prop_assert_eq!(read_by_us(&note), read_by_the_other(&note));
        for signer in [signer, witness] {
            let ours = Note::parse(&note).is_ok_and(|note| signer.verifier().verify(&note).is_ok());
            prop_assert_eq!(ours, signer.verifies_by_the_other(&note));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn what_one_reads_as_a_note_the_other_reads(
        name in name(), text in text(), signature in prop::collection::vec(any::<u8>(), 1..20), key_id: u32, edits in edits(),
    ) {
        let line = NoteSignature { name: &name, key_id, signature };
        let note = altered(format_note(&text, &[line.clone(), line]).as_bytes(), &edits);
        prop_assert_eq!(read_by_us(&note), read_by_the_other(&note), "{}", String::from_utf8_lossy(&note));
    }

    #[test]
    fn what_one_reads_as_a_checkpoint_the_other_reads(checkpoint in checkpoint(), edits in edits()) {
        prop_assert_eq!(checkpoint.to_string().into_bytes(), same(&checkpoint).to_bytes());
        let text = altered(checkpoint.to_string().as_bytes(), &edits);
        let others = tlog_tiles::Checkpoint::from_bytes(&text).ok();
        let ours = std::str::from_utf8(&text).ok().and_then(|text| Checkpoint::parse(text).ok());
        prop_assert_eq!(ours.as_ref().map(same), others, "{}", String::from_utf8_lossy(&text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_note_is_signed_alike_and_verified_by_both(name in name(), seed: [u8; 32], text in text()) {
        let signer = TwinSigner::new(&name, seed);
        let mut others = signed_note::Note::new(text.as_bytes(), &[]).unwrap();
        others.add_sigs(&[&signer.theirs]).unwrap();
        let note = signer.sign(&text);
        prop_assert_eq!(note.as_bytes(), others.to_bytes());
        signer.verifier().verify(&Note::parse(note.as_bytes()).unwrap()).unwrap();
        prop_assert!(signer.verifies_by_the_other(note.as_bytes()));
    }
}

#[test]
fn both_refuse_what_is_no_note() {
    let cases = [
        "",
        "text\n",
        "text\n\n",
        "text\n\n— name AAAAAAA=",
        "text\n\n— name\n",
        "text\n\n- name AAAAAAA=\n",
        "text\n\n— name AAAAAA==\n",
        "text\n\n— name AAAAAAB=\n",
        "text\n\n— name AAAAAAA\n",
        "text\n\n— na+me AAAAAAA=\n",
        "text\n\n— na\u{a0}me AAAAAAA=\n",
        "text\n\n—  AAAAAAA=\n",
        "text\n\n— name AAAAAAA=\n\n",
        "te\txt\n\n— name AAAAAAA=\n",
        "text\r\n\n— name AAAAAAA=\n",
    ];
    for note in cases {
        assert_eq!(
            (read_by_us(note.as_bytes()), read_by_the_other(note.as_bytes())),
            (None, None),
            "{note:?}"
        );
    }
}

#[test]
fn both_refuse_what_is_no_checkpoint() {
    let root = sha256(b"root").to_base64();
    let sizes = ["01", "+1", "-1", "", "1 ", "18446744073709551616"];
    let of_sizes = sizes.map(|size| format!("origin\n{size}\n{root}\n"));
    let others = [
        format!("\n1\n{root}\n"),
        format!("origin\n1\n{root}"),
        format!("origin\n1\n{root}\n\n"),
        format!("origin\n1\n{root}\n\nmore\n"),
        format!("origin\n1\n{}\n", root.trim_end_matches('=')),
        format!("origin\n1\n{root} \n"),
        "origin\n1\nAAAA\n".to_owned(),
        "origin\n1\n".to_owned(),
    ];
    for text in of_sizes.into_iter().chain(others) {
        assert!(Checkpoint::parse(&text).is_err(), "{text:?}");
        assert!(tlog_tiles::Checkpoint::from_bytes(text.as_bytes()).is_err(), "{text:?}");
    }
}

#[test]
fn both_refuse_more_than_a_hundred_signatures() {
    let signer = TwinSigner::new("name", [7; 32]);
    let note = signer.sign("text\n");
    let line = note.strip_prefix("text\n\n").unwrap();
    for (count, reads) in [(100, true), (101, false)] {
        let note = format!("text\n\n{}", line.repeat(count));
        assert_eq!(read_by_us(note.as_bytes()).is_some(), reads);
        assert_eq!(read_by_the_other(note.as_bytes()).is_some(), reads);
    }
}

/// The other refuses such a key when it is read; ours when it is to verify.
#[test]
fn a_key_that_is_no_point_of_the_curve_verifies_nothing() {
    let mut refused = 0;
    for number in 0..16_u8 {
        let key = sha256(&[number]).0;
        let vkey =
            format!("name+{:08x}+{}", ed25519_key_id("name", &key), base64(&[&[1], key.as_slice()].concat()));
        if StandardVerifier::new(&vkey).is_ok() {
            continue;
        }
        refused += 1;
        let verifier = Verifier::parse(&vkey).unwrap();
        let line = NoteSignature { name: "name", key_id: verifier.key_id(), signature: vec![0; 64] };
        let note = format_note("text\n", &[line]);
        let verdict = verifier.verify(&Note::parse(note.as_bytes()).unwrap());
        assert!(matches!(verdict, Err(NoteError::BadSignature(_))), "{verdict:?}");
    }
    assert!(refused > 0);
}
