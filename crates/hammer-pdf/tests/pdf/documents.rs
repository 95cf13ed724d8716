//! Documents are of the length that was asked for, follow from key and number, and are made in pieces as they are at once.

use std::collections::HashSet;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use hammer_pdf::document::{Document, UnfitLength};

use crate::sent;

#[test]
fn a_document_is_as_long_as_it_was_asked_for() {
    let Err(UnfitLength::TooShort { least, .. }) = Document::new(7, 3, 0) else {
        panic!("no document is empty")
    };
    assert!((700..1_000).contains(&least), "{least}");
    for length in [least, least + 1, 1_024, 2_048, 137 << 10, 5_000_001] {
        let document = Document::new(7, 3, length).unwrap();
        assert_eq!((document.len(), document.to_vec().len() as u64), (length, length));
    }
    let error = Document::new(7, 3, least - 1).unwrap_err();
    assert_eq!(error.to_string(), format!("make a document of {} bytes: it has {least} at least", least - 1));
    assert!(Document::new(7, 3, 9_999_999_999).is_ok());
    let error = Document::new(7, 3, 10_000_000_000).unwrap_err();
    assert_eq!(error.to_string(), "make a document of 10000000000 bytes: it has 9999999999 at most");
}

#[test]
fn a_document_follows_from_key_and_number_and_no_two_are_the_same() {
    let of = |key, number| Document::new(key, number, 2_000).unwrap().to_vec();
    assert_eq!(of(7, 3), of(7, 3));
    let all = [of(7, 3), of(7, 4), of(8, 3), of(3, 7)];
    for (place, one) in all.iter().enumerate() {
        assert!(all[place + 1..].iter().all(|other| other != one));
    }
    // The filler of other keys differs in most of its bytes; those of a key differ behind it alone, by its number there and both identifiers.
    let differing = |other: usize| all[0].iter().zip(&all[other]).filter(|(a, b)| a != b).count();
    assert!(differing(2) > 800, "{}", differing(2));
    assert!(differing(3) > 800, "{}", differing(3));
    assert!((40..70).contains(&differing(1)), "{}", differing(1));
}

#[test]
fn documents_of_a_key_start_alike_whatever_their_length() {
    let of = |number, length| Document::new(7, number, length).unwrap();
    let (short, long) = (of(3, 2_000), of(4, 90_000));
    let common = short.common() as usize;
    assert!((1_000..1_700).contains(&common), "{common}");
    assert_eq!(short.to_vec()[..common], long.to_vec()[..common]);
    assert_eq!(long.to_vec()[..long.common() as usize], of(5, 90_001).to_vec()[..long.common() as usize]);
}

#[test]
fn no_compression_makes_documents_shorter_and_no_part_of_them_is_there_twice() {
    let documents: Vec<u8> =
        [7, 8].iter().flat_map(|key| Document::new(*key, 3, 500_000).unwrap().to_vec()).collect();
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
    deflated.write_all(&documents).unwrap();
    assert!(deflated.finish().unwrap().len() > 998_000);
    let words = documents.windows(8).collect::<HashSet<_>>();
    // What stands around the filler is in both.
    assert!(words.len() > 998_000, "{}", words.len());
}

#[test]
fn a_document_is_the_same_in_pieces() {
    let document = Document::new(7, 3, 200_000).unwrap();
    let whole = document.to_vec();
    let mut pieces = Vec::new();
    document.pieces(|piece| pieces.extend_from_slice(piece));
    assert!(pieces == whole);
    for range in [0..10, 500..700, 550..551, 1_001..1_017, 199_000..200_000, 199_900..300_000, 5..5] {
        let mut part = Vec::new();
        document.append(range.clone(), &mut part);
        let [start, end] = [range.start, range.end.min(200_000)].map(|at| at as usize);
        assert!(part == whole[start..end], "{range:?}");
    }
    assert!(document.is_start_of(&whole));
    assert!(document.is_whole(&whole));
    assert!(!document.is_whole(&whole[..199_999]) && !document.is_whole(&[&whole[..], b"more"].concat()));
    assert!(document.is_start_of(&[&whole[..], b"more"].concat()));
    assert!(!document.is_start_of(&whole[..199_999]));
    for place in [0, 5_000, 100_000, 199_999] {
        let mut altered = whole.clone();
        altered[place] ^= 1;
        assert!(!document.is_start_of(&altered), "{place}");
    }
}

#[test]
fn the_cross_references_lead_to_the_objects() {
    for length in [1_000, 70_000] {
        let document = Document::new(7, 3, length).unwrap();
        let bytes = document.to_vec();
        let table = &bytes[document.xref() as usize..];
        assert!(table.starts_with(b"xref\n0 8\n0000000000 65535 f \n"));
        for (number, entry) in table[29..].chunks(20).take(7).enumerate() {
            let offset: usize = std::str::from_utf8(&entry[..10]).unwrap().parse().unwrap();
            let expected = format!("{} 0 obj\n", number + 1);
            assert!(bytes[offset..].starts_with(expected.as_bytes()), "{number}");
            assert!(entry.ends_with(b" 00000 n \n"));
        }
        let end = format!("startxref\n{:010}\n%%EOF\n", document.xref());
        assert!(bytes.ends_with(end.as_bytes()));
    }
    assert_eq!(sent().len(), 2_048);
}
