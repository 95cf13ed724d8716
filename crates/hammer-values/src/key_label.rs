//! Labels of private keys in PEM.

use std::borrow::Cow;

/// A text of PEM in which a private key of tests has the label of any other (RFC 7468): `RSA TEST PRIVATE KEY`, as keys are written that
/// lie in a public repository, so that nobody takes them for secrets, is `RSA PRIVATE KEY`. Borrowed where there is none.
pub fn plain_key_labels(pem: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut label) = test_label(pem) else { return Cow::Borrowed(pem) };
    let (mut plain, mut rest) = (Vec::with_capacity(pem.len()), pem);
    loop {
        plain.extend_from_slice(&rest[..label]);
        rest = &rest[label + TEST.len()..];
        let Some(next) = test_label(rest) else { break };
        label = next;
    }
    plain.extend_from_slice(rest);
    Cow::Owned(plain)
}

fn test_label(pem: &[u8]) -> Option<usize> {
    pem.windows(TEST_LABEL.len()).position(|bytes| bytes == TEST_LABEL)
}

const TEST_LABEL: &[u8] = b"TEST PRIVATE KEY-----";
/// What a plain label lacks of [`TEST_LABEL`].
const TEST: &[u8] = b"TEST ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_tests_have_the_label_of_any_other() {
        for kind in ["", "RSA ", "EC ", "ENCRYPTED "] {
            let pem = |label: &str| {
                format!("a note\n-----BEGIN {label}-----\nTEST\n-----END {label}-----\nTEST PRIVATE KEY\n")
                    .repeat(2)
            };
            let plain = pem(&format!("{kind}PRIVATE KEY"));
            assert_eq!(
                plain_key_labels(pem(&format!("{kind}TEST PRIVATE KEY")).as_bytes()),
                plain.as_bytes()
            );
            assert!(
                matches!(plain_key_labels(plain.as_bytes()), Cow::Borrowed(same) if same == plain.as_bytes())
            );
        }
    }
}
