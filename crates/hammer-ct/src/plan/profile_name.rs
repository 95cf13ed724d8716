//! What leaves and chains look like, by the names that a plan has for it.

use std::cmp::Ordering;

use hammer_synth::Profile;
use hammer_values::ValueError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A profile by its name, such as `dv-p256-chain2`; in the order of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ProfileName(Profile);

impl ProfileName {
    /// The profile.
    pub const fn profile(self) -> Profile {
        self.0
    }
}

impl Ord for ProfileName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.to_string().cmp(&other.0.to_string())
    }
}

impl PartialOrd for ProfileName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Profile> for ProfileName {
    fn from(profile: Profile) -> Self {
        Self(profile)
    }
}

impl TryFrom<String> for ProfileName {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        text.parse().map(Self).map_err(|_| ValueError::Form { text, expected: EXPECTED })
    }
}

impl From<ProfileName> for String {
    fn from(name: ProfileName) -> Self {
        name.0.to_string()
    }
}

const EXPECTED: &str =
    "profile: dv or san100, p256 or rsa2048 and chain2 or chain3 with dashes, such as dv-p256-chain2";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_the_order_of_their_names() {
        let mut names: Vec<ProfileName> = Profile::all().map(ProfileName::from).collect();
        names.sort();
        assert!(names.is_sorted_by_key(|name| String::from(*name)));
        let read: ProfileName = serde_json::from_str("\"dv-p256-chain2\"").unwrap();
        assert_eq!(
            (read.profile(), serde_json::to_string(&read).unwrap()),
            (Profile::DV, "\"dv-p256-chain2\"".to_owned())
        );
        let error = serde_json::from_str::<ProfileName>("\"dv-p521-chain2\"").unwrap_err().to_string();
        assert!(error.starts_with("`dv-p521-chain2` is no profile: dv or san100, "), "{error}");
    }
}
