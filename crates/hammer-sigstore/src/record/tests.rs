use super::*;

fn records() -> [PromiseRecord<'static>; 8] {
    let at = Instants { intended: Nanos(1), sent: Nanos(2), received: Nanos(3) };
    let interface = FulcioInterface::V2;
    let (identity, issuer, spki, body) = ("a@b", "http://i", &b"key"[..], &b"body"[..]);
    [
        PromiseRecord::Certificate(CertificateRecord {
            at,
            interface,
            identity,
            issuer,
            spki,
            sct_header: b"header",
            body,
        }),
        PromiseRecord::Entry(EntryRecord { at, log: EntryLog::TilesMessage, stored: b"stored", body }),
        PromiseRecord::Timestamp(TimestampRecord { at, imprint: Hash([4; 32]), nonce: 5, body }),
        PromiseRecord::TimestampChain { at, body },
        PromiseRecord::Artifact(ArtifactRecord {
            at,
            leaf: Hash([6; 32]),
            index: 7,
            integrated_time: Some(-8),
            artifact: b"it",
            identity: "a@b",
            body: Some(body),
        }),
        PromiseRecord::TilesArtifact(TilesArtifactRecord {
            at,
            leaf: Hash([6; 32]),
            index: 7,
            logged_unix_ms: 8,
            artifact: b"it",
            identity: "a@b",
            timestamp: b"timestamp",
            proof: body,
        }),
        PromiseRecord::Search(SearchRecord { at, leaf: Hash([6; 32]), index: 7, body }),
        PromiseRecord::Bundle(BundleRecord {
            log: EntryLog::Rekor,
            identity,
            artifact: b"it",
            payload: b"about it",
            signature: b"signature",
            certificate: "certificate",
            sct: b"sct",
            entry: b"entry",
            timestamp: body,
        }),
    ]
}

#[test]
fn an_entry_that_is_not_there_is_none_that_is_empty() {
    let mut out = Vec::new();
    for body in [None, Some(&b""[..])] {
        let leaf = Hash([6; 32]);
        let (at, artifact, identity) = (Instants::default(), &b"it"[..], "");
        let record = ArtifactRecord { at, leaf, index: 7, integrated_time: None, artifact, identity, body };
        PromiseRecord::Artifact(record).write(&mut out);
        let Ok(PromiseRecord::Artifact(read)) = PromiseRecord::read(&out) else { panic!("{out:?}") };
        assert_eq!((read.body, read.integrated_time), (body, None));
    }
}

#[test]
fn what_is_written_is_read_again_and_nothing_shorter_is() {
    let mut out = vec![1, 2, 3];
    for record in records() {
        record.write(&mut out);
        assert_eq!(PromiseRecord::read(&out).unwrap(), record);
        let head = out.len() - b"body".len();
        for length in 0..head {
            assert!(PromiseRecord::read(&out[..length]).is_err(), "{length} bytes of {record:?}");
        }
    }
    assert!(PromiseRecord::read(&[9; 100]).is_err());
}
