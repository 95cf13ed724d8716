//! Nonces of sessions.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use ring::rand::{SecureRandom, SystemRandom};

use crate::problem::Problem;

/// The nonce of a session that is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AskedNonce {
    /// The request has it.
    Given(Nonce),
    /// It was chosen here.
    Minted(Nonce),
}

/// 8 to 64 bytes, as sessions have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nonce(Box<[u8]>);

impl Nonce {
    /// What the query of a request for a session asks for: a nonce of its own, one of a size, or one of 32 bytes.
    ///
    /// # Errors
    /// 400 of what is none, 500 without randomness.
    pub(crate) fn of_query(query: &str, random: &SystemRandom) -> Result<AskedNonce, Problem> {
        let [mut nonce, mut size] = [None, None];
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            // The first of each counts, and an empty one is none.
            match &*key {
                "nonce" => nonce.get_or_insert(value),
                "nonceSize" => size.get_or_insert(value),
                _ => continue,
            };
        }
        let [nonce, size] = [nonce, size].map(|value| value.filter(|value| !value.is_empty()));
        match (nonce, size) {
            (Some(_), Some(_)) => Err(refused("nonce and nonceSize are mutually exclusive")),
            (Some(nonce), None) => Self::read(&nonce).map(AskedNonce::Given),
            (None, Some(size)) => {
                Self::mint(size_of(&size).ok_or_else(out_of_range)?, random).map(AskedNonce::Minted)
            }
            (None, None) => Self::mint(32, random).map(AskedNonce::Minted),
        }
    }

    fn read(text: &str) -> Result<Self, Problem> {
        let bytes = URL_SAFE.decode(text).map_err(|_| refused("nonce must be valid base64"))?;
        match bytes.len() {
            8..=64 => Ok(Self(bytes.into())),
            length => Err(refused(&format!("nonce must be between 8 and 64 bytes long; got {length}"))),
        }
    }

    fn mint(size: usize, random: &SystemRandom) -> Result<Self, Problem> {
        let mut bytes = vec![0; size];
        let filled = random.fill(&mut bytes);
        filled.map_err(|_| Problem::internal("failed handling nonce request: internal error"))?;
        Ok(Self(bytes.into()))
    }
}

impl AskedNonce {
    /// Whoever chose it.
    #[cfg(test)]
    pub(crate) fn into_nonce(self) -> Nonce {
        match self {
            Self::Given(nonce) | Self::Minted(nonce) => nonce,
        }
    }
}

impl AsRef<[u8]> for Nonce {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn size_of(text: &str) -> Option<usize> {
    let digits = text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|size| digits && (8..=64).contains(size))
}

fn out_of_range() -> Problem {
    refused("nonceSize must be in range 8..64")
}

fn refused(reason: &str) -> Problem {
    Problem::bad_request(format!("failed handling nonce request: {reason}"))
}

/// Base64 for URLs with its padding, and, as in Go, with any bits behind the last byte.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Result<usize, Problem> {
        Nonce::of_query(query, &SystemRandom::new()).map(|asked| asked.into_nonce().as_ref().len())
    }

    #[test]
    fn a_nonce_is_given_or_of_a_size_or_of_32_bytes() {
        for (query, length) in [
            ("", 32),
            ("nonce=&nonceSize=", 32),
            ("nonceSize=8", 8),
            ("nonceSize=064", 64),
            ("nonce=AAECAwQFBgc=", 8),
            ("nonce=AAECAwQFBgc%3D&other=1", 8),
            ("nonceSize=9&nonceSize=70", 9),
        ] {
            assert_eq!(of(query), Ok(length), "{query}");
        }
        let url_safe = Nonce::of_query("nonce=-_-_-_-_-_8=", &SystemRandom::new()).unwrap().into_nonce();
        assert_eq!(url_safe.as_ref(), [0xfb, 0xff, 0xbf, 0xfb, 0xff, 0xbf, 0xfb, 0xff]);
    }

    #[test]
    fn what_is_no_nonce_is_refused() {
        for (query, reason) in [
            ("nonceSize=5", "nonceSize must be in range 8..64"),
            ("nonceSize=65", "nonceSize must be in range 8..64"),
            ("nonceSize=%2B32", "nonceSize must be in range 8..64"),
            ("nonce=AAECAwQFBgc", "nonce must be valid base64"),
            ("nonce=+++++++++++=", "nonce must be valid base64"),
            ("nonce=AAEC", "nonce must be between 8 and 64 bytes long; got 3"),
            ("nonce=AAECAwQFBgc=&nonceSize=8", "nonce and nonceSize are mutually exclusive"),
        ] {
            assert_eq!(of(query), Err(refused(reason)), "{query}");
        }
    }
}
