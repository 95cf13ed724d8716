use super::*;

fn owned(bytes: &[u8]) -> Option<Vec<u8>> {
    match to_der(bytes) {
        Cow::Borrowed(same) => {
            assert_eq!(same, bytes);
            None
        }
        Cow::Owned(der) => Some(der),
    }
}

#[test]
fn indefinite_and_long_lengths_become_those_of_der() {
    for (ber, der) in [
        (&[0x30, 0x80, 0, 0][..], &[0x30, 0][..]),
        (&[0x30, 0x81, 3, 2, 1, 5], &[0x30, 3, 2, 1, 5]),
        (&[0x30, 0x84, 0, 0, 0, 3, 2, 1, 5], &[0x30, 3, 2, 1, 5]),
        (&[0xa0, 0x80, 0x30, 0x80, 5, 0, 0, 0, 2, 1, 9, 0, 0], &[0xa0, 7, 0x30, 2, 5, 0, 2, 1, 9]),
        // One that is indefinite in one that is not.
        (&[0x30, 6, 0x31, 0x80, 5, 0, 0, 0], &[0x30, 4, 0x31, 2, 5, 0]),
    ] {
        assert_eq!(owned(ber).as_deref(), Some(der), "{ber:02x?}");
    }
}

#[test]
fn pieces_of_an_octet_string_become_one() {
    for (ber, der) in [
        (&[0x24, 0x80, 4, 2, 1, 2, 4, 1, 3, 0, 0][..], &[4, 3, 1, 2, 3][..]),
        (&[0x24, 0x80, 0, 0], &[4, 0]),
        (&[0x24, 10, 0x24, 5, 4, 1, 1, 4, 0, 4, 1, 2], &[4, 2, 1, 2]),
        (&[0xa0, 7, 0x24, 5, 4, 3, 7, 8, 9], &[0xa0, 5, 4, 3, 7, 8, 9]),
    ] {
        assert_eq!(owned(ber).as_deref(), Some(der), "{ber:02x?}");
    }
    let pieces: Vec<u8> = [&[0x24, 0x80][..], &[4, 1, 7].repeat(300), &[0, 0]].concat();
    assert_eq!(owned(&pieces), Some([&[4, 0x82, 1, 44][..], &[7; 300]].concat()));
}

#[test]
fn what_is_der_or_no_whole_element_stays_as_it_is() {
    for bytes in [
        &[][..],
        &[0x30],
        &[0x30, 0],
        &[0x30, 3, 2, 1, 5],
        // Cut off, or longer than that in which it stands.
        &[0x30, 0x80],
        &[0x30, 0x80, 0],
        &[0x30, 0x80, 2, 1, 5],
        &[0x30, 2, 0x31, 0x80, 0, 0],
        &[0x30, 0x80, 4, 2, 0, 0],
        &[0x30, 0x88, 255, 255, 255, 255, 255, 255, 255, 255, 0],
        &[0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        // Bytes behind it, an end of nothing, and one that is none.
        &[0x30, 0x80, 0, 0, 0],
        &[0, 0],
        &[0x30, 2, 0, 0],
        &[0x30, 0x80, 0, 1, 0],
        &[0x30, 0x80, 0, 0x81, 0],
        // Only what has others in it may be of indefinite length; a tag of two bytes; another type among octets.
        &[4, 0x80, 0, 0],
        &[0x3f, 0x81, 1, 0x80, 0, 0],
        &[0x24, 0x80, 2, 1, 5, 0, 0],
    ] {
        assert_eq!(owned(bytes), None, "{bytes:02x?}");
    }
}

#[test]
fn it_reads_as_deep_and_as_much_as_it_says() {
    let nested = |depth: usize| [[0x30, 0x80].repeat(depth), vec![0; 2 * depth]].concat();
    assert_eq!(owned(&nested(2)), Some(vec![0x30, 2, 0x30, 0]));
    assert!(owned(&nested(DEEPEST)).is_some());
    assert_eq!(owned(&nested(DEEPEST + 1)), None);
    let many = |count: usize| [&[0x30, 0x80][..], &[5, 0].repeat(count), &[0, 0]].concat();
    assert!(owned(&many(MOST_PIECES - 2)).is_some());
    assert_eq!(owned(&many(MOST_PIECES)), None);
}
