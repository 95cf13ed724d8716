//! Devices as a verifier should judge them: good ones, and those with which something is wrong.

use hammer_core::promise::PromiseKind;
use hammer_rats::{PsaDialect, TrustTier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is right or wrong with the evidence of a device.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceClass {
    /// Nothing is wrong with it.
    #[default]
    Good,
    /// Nobody ever endorsed the device.
    UnknownDevice,
    /// A component was measured as another than the endorsed one.
    WrongMeasurement,
    /// A component has another version than the endorsed one.
    WrongVersion,
    /// A component was signed by somebody else than the endorsed one.
    WrongSigner,
    /// The last component, which is endorsed, is not there.
    MissingComponent,
    /// There is a component that nobody endorsed.
    ExtraComponent,
    /// The device says that it is not secured.
    BadLifecycle,
    /// The token is signed by the key of another device.
    WrongKey,
    /// One bit of the token's signature is another.
    BadSignature,
    /// The nonce of the token is not that of the session.
    StaleNonce,
    /// A claim that every token needs is not there.
    MissingClaim,
    /// The evidence is no token.
    Garbage,
}

impl DeviceClass {
    /// All of them, in the order of the variants.
    pub const ALL: [Self; 13] = [
        Self::Good,
        Self::UnknownDevice,
        Self::WrongMeasurement,
        Self::WrongVersion,
        Self::WrongSigner,
        Self::MissingComponent,
        Self::ExtraComponent,
        Self::BadLifecycle,
        Self::WrongKey,
        Self::BadSignature,
        Self::StaleNonce,
        Self::MissingClaim,
        Self::Garbage,
    ];

    /// Their names, in the order of the variants: also those of what a verifier promises of them.
    pub const NAMES: [&'static str; 13] = [
        "good",
        "unknown-device",
        "wrong-measurement",
        "wrong-version",
        "wrong-signer",
        "missing-component",
        "extra-component",
        "bad-lifecycle",
        "wrong-key",
        "bad-signature",
        "stale-nonce",
        "missing-claim",
        "garbage",
    ];

    /// Its name in plans and reports.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The class of that place.
    pub fn at(place: u8) -> Option<Self> {
        Self::ALL.get(usize::from(place)).copied()
    }

    /// How the policy of that release judges it, as it was seen of v0.0.2502 and of v0.0.2608: the former needs each endorsed component to
    /// be in the token, the latter each component of the token to be endorsed, and it does not look at who signed one.
    pub const fn expected(self, dialect: PsaDialect) -> TrustTier {
        match (self, dialect) {
            (Self::Good, _)
            | (Self::ExtraComponent, PsaDialect::Iot1)
            | (Self::WrongSigner | Self::MissingComponent, PsaDialect::Psa2025) => TrustTier::Affirming,
            (Self::WrongMeasurement | Self::WrongVersion, _)
            | (Self::WrongSigner | Self::MissingComponent, PsaDialect::Iot1)
            | (Self::ExtraComponent, PsaDialect::Psa2025) => TrustTier::Warning,
            (
                Self::UnknownDevice
                | Self::BadLifecycle
                | Self::WrongKey
                | Self::BadSignature
                | Self::StaleNonce
                | Self::MissingClaim
                | Self::Garbage,
                _,
            ) => TrustTier::Contraindicated,
        }
    }
}

impl From<DeviceClass> for PromiseKind {
    fn from(class: DeviceClass) -> Self {
        Self(class as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_place_and_its_name() {
        for (place, class) in (0..).zip(DeviceClass::ALL) {
            assert_eq!(DeviceClass::at(place), Some(class));
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("{:?}", class.name()));
        }
        assert_eq!(DeviceClass::at(13), None);
    }
}
