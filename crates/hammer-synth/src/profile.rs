//! The sizes and shapes of leaves, after certificates that public logs really get.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// What a leaf and its chain look like. Its name is the three parts with dashes: `dv-p256-chain2`,
/// `san100-rsa2048-chain3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// How many names the leaf carries.
    pub names: Names,
    /// What key the leaf certifies.
    pub subject_key: SubjectKey,
    /// How many certificates are sent, without the root.
    pub chain: ChainLength,
}

/// The dNSNames of the subjectAltName.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Names {
    /// A domain and its `www.`, the everyday domain-validated leaf.
    DvTwoSans,
    /// 100 names, as hosting services have them.
    HundredSans,
}

/// The subject's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubjectKey {
    /// A point of P-256, whose private key follows from (seed, seq).
    P256,
    /// 2048 bits that look like a modulus and follow from (seed, seq); nobody knows a private key to it.
    Rsa2048,
}

/// How many certificates a chain has, without the root. Chains from the user's own CA have the length of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainLength {
    /// Leaf and one intermediate.
    Two,
    /// Leaf and two intermediates.
    Three,
}

impl Profile {
    /// The everyday leaf: two names, P-256, one intermediate.
    pub const DV: Self =
        Self { names: Names::DvTwoSans, subject_key: SubjectKey::P256, chain: ChainLength::Two };

    /// Every profile, the everyday leaf first.
    pub fn all() -> impl Iterator<Item = Self> {
        let keys = [SubjectKey::P256, SubjectKey::Rsa2048];
        let chains = [ChainLength::Two, ChainLength::Three];
        [Names::DvTwoSans, Names::HundredSans].into_iter().flat_map(move |names| {
            keys.into_iter().flat_map(move |subject_key| {
                chains.into_iter().map(move |chain| Self { names, subject_key, chain })
            })
        })
    }
}

impl Names {
    /// How many dNSNames there are.
    pub const fn count(self) -> usize {
        match self {
            Self::DvTwoSans => 2,
            Self::HundredSans => 100,
        }
    }
}

impl ChainLength {
    /// How many intermediates are sent with the leaf.
    pub const fn intermediates(self) -> usize {
        match self {
            Self::Two => 1,
            Self::Three => 2,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = match self.names {
            Names::DvTwoSans => "dv",
            Names::HundredSans => "san100",
        };
        let key = match self.subject_key {
            SubjectKey::P256 => "p256",
            SubjectKey::Rsa2048 => "rsa2048",
        };
        write!(f, "{names}-{key}-chain{}", self.chain.intermediates() + 1)
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::all().find(|profile| profile.to_string() == text).ok_or_else(|| Error::Unknown {
            text: text.to_owned(),
            expected: "dv|san100, p256|rsa2048 and chain2|chain3 with dashes, such as dv-p256-chain2",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_profile_has_a_name_of_its_own_that_reads_back() {
        let names: HashSet<String> = Profile::all().map(|profile| profile.to_string()).collect();
        assert_eq!(names.len(), 8);
        assert!(Profile::all().all(|profile| profile.to_string().parse::<Profile>().unwrap() == profile));
        assert_eq!("dv-p256-chain2".parse::<Profile>().unwrap(), Profile::DV);
        assert!("dv-p521-chain2".parse::<Profile>().is_err());
    }
}
