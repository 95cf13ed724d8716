//! What a log signs: nothing is believed but what it did sign.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hammer_core::promise::{PromiseLedger, Verdicts, Verifier as _};
use hammer_ct::{LogKind, LogTarget, SctVerifier};
use hammer_measure::Nanos;
use hammer_tlog::ct::precert::signed_entry;
use hammer_tlog::ct::rfc6962::{AddChainRequest, EntryType, GetSthResponse, SignedEntry};
use hammer_tlog::ct::sct::Sct;
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::logs::note::{self, Checkpoint, Note, Verifier, open_checkpoint};

use crate::structure::text;

/// A signed checkpoint by the key of the recorded one says what that says.
pub(crate) fn checkpoint(data: &[u8]) -> bool {
    static SIGNED: LazyLock<(Verifier, Verifier)> = LazyLock::new(|| {
        let key = include_str!("../../../fuzz/seeds/key/sunlight.b64").parse().expect("a key");
        let rekor = Hash::from_base64("vbp2XMmB0EKBPBXndMfICNEX72sF5U8tuth0o7bfUR8=").expect("32 bytes");
        let rekor = Verifier::ed25519("127.0.0.1", &rekor.0).expect("a key");
        (Verifier::rfc6962("127.0.0.1/sun", key), rekor)
    });
    let _ = Verifier::parse(&text(data));
    let _ = Checkpoint::parse(&text(data));
    if let Ok(note) = Note::parse(data) {
        let written = note::format(note.text, &note.signatures);
        assert_eq!(Note::parse(written.as_bytes()), Ok(note), "a note reads back");
    }
    let sunlight = open_checkpoint(data, &SIGNED.0);
    if let Ok((checkpoint, verified)) = &sunlight {
        let root = Hash::from_base64("4qLoFX3ZTqOQ97XiHvmRdjfl6nDQi+zB4lv8uipAV/s=").expect("32 bytes");
        assert_eq!(*checkpoint, Checkpoint::new("127.0.0.1/sun", 49275, root));
        assert!(verified.timestamp_ms.is_some());
    }
    let rekor = open_checkpoint(data, &SIGNED.1);
    if let Ok((checkpoint, _)) = &rekor {
        assert_eq!((checkpoint.size, checkpoint.extensions.len()), (2, 0));
    }
    sunlight.is_ok() || rekor.is_ok()
}

/// A tree head by the key of the recorded one is that one.
pub(crate) fn sth(data: &[u8]) -> bool {
    static KEY: LazyLock<LogKey> =
        LazyLock::new(|| include_str!("../../../fuzz/seeds/key/rsa-2048.pem").parse().expect("a key"));
    let Ok(head) = serde_json::from_slice::<GetSthResponse>(data) else { return false };
    let believed = head.verify(&KEY).is_ok();
    if believed {
        let GetSthResponse { tree_size, timestamp, sha256_root_hash, .. } = head;
        assert_eq!((tree_size, timestamp, sha256_root_hash), (7, 1234, Hash([7; 32])));
    }
    believed
}

/// An SCT over a recorded chain is what the log answered to that chain, whatever else the answer says.
pub(crate) fn sct(data: &[u8]) -> bool {
    let Ok(sct) = Sct::from_json(data) else { return false };
    let _ = sct.leaf_index();
    let answer = serde_json::to_vec(&sct.to_response()).expect("JSON");
    assert_eq!(Sct::from_json(&answer).expect("an answer"), sct, "an SCT reads back");
    let promised = |answer: &Answered| (answer.sct.timestamp_ms, answer.sct.extensions.clone());
    let mut believed = false;
    for answered in ANSWERED.iter().filter(|known| sct.verify(&KEY, known.entry.by_ref()).is_ok()) {
        assert_eq!((sct.timestamp_ms, sct.extensions.clone()), promised(answered));
        believed = true;
    }
    believed
}

/// A record on which the promise of an SCT is kept holds the recorded answer and the chain that it was given for.
pub(crate) fn record(data: &[u8]) -> bool {
    let url = "http://127.0.0.1:1/vectors".parse().expect("a URL");
    let log =
        LogTarget { skew: Duration::from_secs(60), ..LogTarget::new(LogKind::StaticCt, url, KEY.clone()) };
    let known = &ANSWERED[0];
    let ledger = Arc::new(PromiseLedger::new(&["sct", "policy"]));
    let mut verdicts = Verdicts::new("fuzz", ledger.clone(), Box::new(drop));
    let mut verifier = SctVerifier::new(Arc::new(log), known.sct.timestamp_ms, Vec::new(), true);
    verifier.check(1, data, Nanos::ZERO, &mut verdicts);
    assert_eq!(verdicts.resolved(), 1, "every record gets one verdict");
    // That a refusal was right is no promise of an answer.
    let believed = ledger.by_kind().any(|(kind, ledger)| kind == "sct" && ledger.kept == 1);
    if believed {
        let has = |part: &[u8]| data.windows(part.len()).any(|window| window == part);
        let SignedEntry::X509 { certificate } = &known.entry else {
            unreachable!("the first is of add-chain")
        };
        assert!(has(&known.sct.timestamp_ms.to_be_bytes()) && has(&known.sct.extensions) && has(certificate));
    }
    believed
}

/// A chain and what the log answered to it.
struct Answered {
    entry: SignedEntry,
    sct: Sct,
}

static KEY: LazyLock<LogKey> =
    LazyLock::new(|| include_str!("../../../fuzz/seeds/key/tesseract.b64").parse().expect("a key"));

static ANSWERED: LazyLock<Vec<Answered>> = LazyLock::new(|| {
    let answered = |request: &[u8], response: &[u8], kind| {
        let request: AddChainRequest = serde_json::from_slice(request).expect("a request");
        let entry = signed_entry(&request.chain, kind).expect("a chain");
        Answered { entry, sct: Sct::from_json(response).expect("an SCT") }
    };
    vec![
        answered(
            include_bytes!("../../../fuzz/seeds/sct/x509.request"),
            include_bytes!("../../../fuzz/seeds/sct/x509.response"),
            EntryType::X509,
        ),
        answered(
            include_bytes!("../../../fuzz/seeds/sct/precert.request"),
            include_bytes!("../../../fuzz/seeds/sct/precert.response"),
            EntryType::Precert,
        ),
    ]
});
