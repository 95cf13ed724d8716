//! What the two releases call things.

use crate::plan::Release;

impl Release {
    /// Its name, as discovery and results have it.
    #[must_use]
    pub const fn version(self) -> &'static str {
        match self {
            Self::V2502 => "v0.0.2502",
            Self::V2608 => "v0.0.2608",
        }
    }

    /// The media types of CoRIMs.
    pub(crate) const fn corim_types(self) -> &'static [&'static str] {
        match self {
            Self::V2502 => &CORIM_2502,
            Self::V2608 => &CORIM_2608,
        }
    }

    /// The media types of evidence.
    pub(crate) const fn evidence_types(self) -> &'static [&'static str] {
        match self {
            Self::V2502 => &EVIDENCE_2502,
            Self::V2608 => &EVIDENCE_2608,
        }
    }
}

// The services take these from maps, so that each answer of theirs has another order; the order here is that of the recorded discovery.

const CORIM_2502: [&str; 6] = [
    r#"application/corim-unsigned+cbor; profile="tag:github.com/parallaxsecond,2023-03-03:tpm""#,
    r#"application/corim-unsigned+cbor; profile="http://enacttrust.com/veraison/1.0.0""#,
    r#"application/corim-unsigned+cbor; profile="tag:github.com/parallaxsecond,2023-03-03:cca""#,
    r#"application/corim-unsigned+cbor; profile="http://arm.com/cca/realm/1""#,
    r#"application/corim-unsigned+cbor; profile="http://arm.com/psa/iot/1""#,
    r#"application/corim-unsigned+cbor; profile="http://arm.com/cca/ssd/1""#,
];

const EVIDENCE_2502: [&str; 9] = [
    "application/vnd.parallaxsecond.key-attestation.cca",
    "application/pem-certificate-chain",
    "application/vnd.enacttrust.tpm-evidence",
    "application/vnd.parallaxsecond.key-attestation.tpm",
    "application/psa-attestation-token",
    r#"application/eat-collection; profile="http://arm.com/CCA-SSD/1.0.0""#,
    r#"application/eat-cwt; profile="http://arm.com/psa/2.0.0""#,
    r#"application/eat+cwt; eat_profile="tag:psacertified.org,2019:psa#legacy""#,
    r#"application/eat+cwt; eat_profile="tag:psacertified.org,2023:psa#tfm""#,
];

const CORIM_2608: [&str; 18] = [
    r#"application/rim+cbor; profile="tag:github.com/parallaxsecond,2023-03-03:cca""#,
    r#"application/rim+cose; profile="tag:github.com/parallaxsecond,2023-03-03:cca""#,
    r#"application/rim+cbor; profile="tag:veraison-project.com,2026:riot""#,
    r#"application/rim+cose; profile="tag:veraison-project.com,2026:riot""#,
    r#"application/rim+cbor; profile="tag:arm.com,2025:cca_platform#1.0.0""#,
    r#"application/rim+cose; profile="tag:arm.com,2025:cca_platform#1.0.0""#,
    r#"application/rim+cbor; profile="tag:arm.com,2025:cca_realm#1.0.0""#,
    r#"application/rim+cose; profile="tag:arm.com,2025:cca_realm#1.0.0""#,
    r#"application/rim+cbor; profile="https://enacttrust.com/veraison/1.0.0""#,
    r#"application/rim+cose; profile="https://enacttrust.com/veraison/1.0.0""#,
    r#"application/rim+cbor; profile="tag:github.com/parallaxsecond,2023-03-03:tpm""#,
    r#"application/rim+cose; profile="tag:github.com/parallaxsecond,2023-03-03:tpm""#,
    r#"application/rim+cbor; profile="tag:amd.com,2024:snp-corim-profile""#,
    r#"application/rim+cose; profile="tag:amd.com,2024:snp-corim-profile""#,
    r#"application/rim+cbor; profile="https://amd.com/ark""#,
    r#"application/rim+cose; profile="https://amd.com/ark""#,
    r#"application/rim+cbor; profile="tag:arm.com,2025:psa#1.0.0""#,
    r#"application/rim+cose; profile="tag:arm.com,2025:psa#1.0.0""#,
];

const EVIDENCE_2608: [&str; 12] = [
    "application/psa-attestation-token",
    r#"application/eat-cwt; profile="http://arm.com/psa/2.0.0""#,
    r#"application/eat+cwt; eat_profile="tag:psacertified.org,2023:psa#tfm""#,
    r#"application/eat+cwt; eat_profile="tag:psacertified.org,2019:psa#legacy""#,
    "application/vnd.parallaxsecond.key-attestation.cca",
    "application/pem-certificate-chain",
    r#"application/eat-collection; profile="http://arm.com/CCA-SSD/1.0.0""#,
    "application/vnd.enacttrust.tpm-evidence",
    "application/vnd.parallaxsecond.key-attestation.tpm",
    "application/vnd.veraison.tsm-report+cbor",
    "application/vnd.veraison.tsm-report+json",
    r#"application/eat+cwt; eat_profile="tag:github.com,2025:veraison/ratsd/cmw""#,
];
