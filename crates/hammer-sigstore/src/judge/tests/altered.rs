//! No altered byte of an answer is believed that anybody promised. What is left out of that is said of each answer.

use std::cell::RefCell;

use super::*;

/// The answer with one bit altered, of every byte in turn: which byte, and what is left of its character.
fn altered(answer: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> + '_ {
    (0..answer.len()).flat_map(move |place| {
        [place % 7, (place + 3) % 7].map(|bit| {
            let mut altered = answer.to_vec();
            altered[place] ^= 1 << bit;
            (place, altered)
        })
    })
}

/// Every answer that is believed, but for those of which `is_free` says so.
fn believed(
    answer: &[u8],
    judge: impl Fn(&[u8]) -> &'static str,
    is_free: impl Fn(usize, &[u8]) -> bool,
) -> Vec<String> {
    assert_eq!(judge(answer), "kept");
    altered(answer)
        .filter(|(place, altered)| judge(altered) == "kept" && !is_free(*place, altered))
        .map(|(place, altered)| {
            let around = place.saturating_sub(30)..(place + 10).min(altered.len());
            format!("{place}: {}", String::from_utf8_lossy(&altered[around]))
        })
        .collect()
}

/// Where a text stands in an answer.
fn span(answer: &[u8], text: &str) -> Range<usize> {
    let place = answer.windows(text.len()).position(|window| window == text.as_bytes());
    let place = place.unwrap_or_else(|| panic!("{text}"));
    place..place + text.len()
}

/// A digit of hexadecimal that is a capital now, or was one.
fn is_same_digit(answer: &[u8], place: usize, altered: &[u8]) -> bool {
    altered[place].is_ascii_hexdigit() && altered[place].eq_ignore_ascii_case(&answer[place])
}

#[test]
fn of_an_entry_of_rekor_v1_but_the_name_of_who_signed_its_checkpoint() {
    let (answer, stored) = (ENTRY.as_bytes(), stored_in(ENTRY, ""));
    let judge = |body: &[u8]| {
        let record = EntryRecord { at: AT, log: EntryLog::Rekor, stored: &stored, body };
        let (shards, mut believed) = Default::default();
        kind(entry::judge_rekor(log_trust(&shards), &record, at(INTEGRATED * 1000), &mut believed))
    };
    // Who signed is found by the hint of the key.
    let name = span(answer, "\u{2014} ").end..answer.len();
    let name = name.start..name.start + ENTRY[name].find(' ').unwrap();
    let is_free = |place: usize, altered: &[u8]| {
        is_same_digit(answer, place, altered) || name.contains(&place) || answer[place] == b'\n'
    };
    assert_eq!(believed(answer, judge, is_free), [""; 0]);
}

#[test]
fn of_an_entry_of_rekor_v2_but_what_it_does_not_promise() {
    let (answer, stored) = (TILES_ENTRY.as_bytes(), stored_in(TILES_ENTRY, "/canonicalizedBody"));
    let judge = |body: &[u8]| {
        let record = EntryRecord { at: AT, log: EntryLog::Tiles, stored: &stored, body };
        kind(entry::judge_tiles(&TRUST, &record, &mut BelievedCheckpoint::default()))
    };
    let names = [span(answer, r#""integratedTime":"0","#), span(answer, r#""inclusionPromise":null"#)];
    let is_free =
        |place: usize, _: &[u8]| names.iter().any(|name| name.contains(&place)) || answer[place] == b'\n';
    assert_eq!(believed(answer, judge, is_free), [""; 0]);
}

#[test]
fn of_a_certificate_but_what_stands_above_it() {
    let answer = CHAIN.as_bytes();
    let chain = crate::fulcio::chain(FulcioInterface::V1, answer).unwrap();
    let leaf = Certificate::parse(&chain[0]).unwrap();
    let issued_ms = leaf.not_before_seconds().unwrap() * 1000;
    let judge = |body: &[u8]| {
        let (interface, identity, issuer) = (FulcioInterface::V1, IDENTITY, "http://127.0.0.1:18888");
        let (spki, sct_header) = (leaf.spki, &b""[..]);
        let record = CertificateRecord { at: AT, interface, identity, issuer, spki, sct_header, body };
        together(|signatures| certificate::judge(&TRUST, &record, at(issued_ms), signatures))
    };
    // Whose authorities are trusted is not for Fulcio to say here, as long as what it sends along is whole.
    let above = span(answer, "-----END CERTIFICATE-----").end;
    let digits = above + "\n-----BEGIN CERTIFICATE-----".len()..answer.len();
    let is_free = |place: usize, _: &[u8]| digits.contains(&place) || answer[place] == b'\n';
    assert_eq!(believed(answer, judge, is_free), [""; 0]);
}

#[test]
fn of_a_timestamp_but_what_stands_before_its_content() {
    let query = hammer_cms::timestamp::TimestampQuery::parse(QUERY).unwrap();
    let trusted = hammer_tlog::keys::chain::TrustedAuthorities::from_pem(TIMESTAMP_CHAIN).unwrap();
    let expected = hammer_cms::timestamp::ExpectedTimestamp {
        imprint: hammer_cms::timestamp::ExpectedImprint::Sha256(&query.imprint_sha256),
        nonce: query.nonce,
        not_before_ms: None,
        not_after_ms: None,
    };
    let stamped = TimestampVerifier::new(trusted.clone()).verify(TIMESTAMP, &expected).unwrap().unix_ms;
    let verifier = RefCell::new(TimestampVerifier::new(trusted));
    let judge = |body: &[u8]| {
        let (imprint, nonce) = (Hash(query.imprint_sha256), query.nonce.unwrap());
        let record = TimestampRecord { at: AT, imprint, nonce, body };
        let mut verifier = verifier.borrow_mut();
        together(|signatures| {
            timestamp::judge((&TRUST, Some(&mut verifier)), &record, at(stamped), signatures)
        })
    };
    // Versions and digest algorithms are signed by nobody, and looked at by nobody; id-ct-TSTInfo is what follows them.
    let content = [0x06, 0x0b, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];
    let content = TIMESTAMP.windows(content.len()).position(|window| window == content).unwrap();
    // What is granted is granted with changes, too.
    let is_free = |place: usize, _: &[u8]| place < content;
    assert_eq!(believed(TIMESTAMP, judge, is_free), [""; 0]);
}

#[test]
fn of_the_chain_of_an_authority() {
    let judge = |body: &[u8]| kind(timestamp::judge_chain(&TRUST, body));
    let answer = TIMESTAMP_CHAIN.as_bytes();
    let is_free = |place: usize, _: &[u8]| answer[place] == b'\n';
    assert_eq!(believed(answer, judge, is_free), [""; 0]);
}
