//! The services under load, as their discovery documents and the plan describe them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hammer_rats::{PsaDialect, TrustTier};
use http::Uri;

use crate::auth::AttestAuth;
use crate::device_class::DeviceClass;
use crate::discovery::DiscoveryDocument;
use crate::error::AttestError;
use crate::keys::VerificationKeys;
use crate::plan::{AttestTargetPlan, DiscoveryKind};
use crate::provisioned::ProvisionedPools;
use crate::results::ResultCounts;
use crate::seen_nonces::SeenNonces;

/// A service of a verifier.
#[derive(Clone, Debug)]
pub struct AttestService {
    /// Its frontends, of which balancing chooses.
    pub endpoints: Vec<Uri>,
    /// What its frontends said of themselves before the run, that of one which is ready first; none where no workload needs it.
    pub documents: Vec<DiscoveryDocument>,
}

impl AttestService {
    /// The document that workloads go by.
    pub fn document(&self) -> Option<&DiscoveryDocument> {
        self.documents.first()
    }
}

/// The services under load, and what workloads share.
#[derive(Clone, Debug)]
pub struct AttestTarget {
    /// Where endorsements go.
    pub provisioning: AttestService,
    /// Where evidence goes.
    pub verification: AttestService,
    /// Where only its document is read.
    pub management: AttestService,
    /// What provisioning lets in by.
    pub auth: AttestAuth,
    /// How far the clock of verification may be from this machine's.
    pub skew: Duration,
    /// How long after it said so provisioning may have a device unknown to verification.
    pub provisioning_delay: Duration,
    /// What the plan expects of devices in place of what the release does.
    pub expected: BTreeMap<DeviceClass, TrustTier>,
    /// What results are signed with.
    pub keys: Arc<VerificationKeys>,
    /// Devices that were taken in.
    pub provisioned: ProvisionedPools,
    /// What was said of devices.
    pub results: Arc<ResultCounts>,
    /// The nonces that verification chose.
    pub nonces: Arc<SeenNonces>,
}

/// What follows from nothing but the run, and what is sent follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttestRun {
    /// The run's seed.
    pub seed: u64,
    /// The wall clock at the run's epoch, milliseconds since the Unix epoch.
    pub epoch_unix_ms: u64,
    /// The workload's place in the plan: the stream of its tokens.
    pub workload: u64,
}

impl AttestTarget {
    /// The services of a plan, of whose documents nothing is known yet.
    pub fn of(plan: &AttestTargetPlan, auth: AttestAuth) -> Self {
        let service = |urls: &hammer_values::OneOrMany<hammer_values::ServiceUrl>| AttestService {
            endpoints: urls.as_slice().iter().map(|url| url.url().clone()).collect(),
            documents: Vec::new(),
        };
        Self {
            provisioning: service(&plan.provisioning_url),
            verification: service(&plan.verification_url),
            management: service(&plan.management_url),
            auth,
            skew: plan.skew.duration(),
            provisioning_delay: plan.provisioning_delay.duration(),
            expected: plan.expected.iter().map(|(class, tier)| (*class, (*tier).into())).collect(),
            keys: Arc::default(),
            provisioned: ProvisionedPools::default(),
            results: Arc::default(),
            nonces: Arc::default(),
        }
    }

    /// A service.
    pub const fn service(&self, kind: DiscoveryKind) -> &AttestService {
        match kind {
            DiscoveryKind::Provisioning => &self.provisioning,
            DiscoveryKind::Verification => &self.verification,
            DiscoveryKind::Management => &self.management,
        }
    }

    /// A service, to be described.
    pub const fn service_mut(&mut self, kind: DiscoveryKind) -> &mut AttestService {
        match kind {
            DiscoveryKind::Provisioning => &mut self.provisioning,
            DiscoveryKind::Verification => &mut self.verification,
            DiscoveryKind::Management => &mut self.management,
        }
    }

    /// How endorsements are written.
    ///
    /// # Errors
    /// When the service takes none of PSA devices.
    pub fn dialect(&self) -> Result<PsaDialect, AttestError> {
        let unknown = AttestError::Unsaid { kind: DiscoveryKind::Provisioning, what: "anything" };
        let mut documents = self.provisioning.documents.iter();
        if documents.len() == 0 {
            return Err(unknown);
        }
        documents.find_map(DiscoveryDocument::dialect).ok_or(AttestError::NoDialect)
    }

    /// How verification judges a device of a class by its policy. Where provisioning was not asked, the policy is that of the release that
    /// verification names. While frontends are of several releases, as an upgrade has them, the policy of each is right.
    pub(crate) fn policy(&self) -> Policy {
        let of_provisioning = self.provisioning.documents.iter().filter_map(DiscoveryDocument::dialect);
        let by_version = self.verification.documents.iter().map(|document| {
            if is_before_2503(&document.version) { PsaDialect::Iot1 } else { PsaDialect::Psa2025 }
        });
        let mut dialects: Vec<PsaDialect> = of_provisioning.collect();
        let versions = self.verification.documents.iter().map(|document| &document.version);
        let are_several = versions.clone().any(|version| Some(version) != versions.clone().next());
        // Both services are of one release, unless verification's frontends say that they are of several.
        if dialects.is_empty() || are_several {
            dialects.extend(by_version);
        }
        let first = dialects.first().copied().unwrap_or(PsaDialect::Psa2025);
        let due = |class: DeviceClass| match self.expected.get(&class) {
            Some(tier) => (*tier, *tier),
            None => {
                let tier = class.expected(first);
                let other =
                    dialects.iter().map(|dialect| class.expected(*dialect)).find(|other| *other != tier);
                (tier, other.unwrap_or(tier))
            }
        };
        Policy(DeviceClass::ALL.map(due))
    }
}

impl DiscoveryKind {
    /// The key of the target that says where the service is.
    pub const fn url_key(self) -> &'static str {
        match self {
            Self::Provisioning => "provisioning_url",
            Self::Verification => "verification_url",
            Self::Management => "management_url",
        }
    }
}

/// What is said of devices of each class: by the release of the first frontend, and by another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy([(TrustTier, TrustTier); DeviceClass::ALL.len()]);

impl Policy {
    /// What is due; twice the same where one policy alone is known.
    pub(crate) const fn of(&self, class: DeviceClass) -> (TrustTier, TrustTier) {
        self.0[class as usize]
    }
}

/// Releases are named after their year and month: `v0.0.2502`. What is built from their sources may have a commit behind it
/// (`0.0.2502+45ec48a`), or say no month at all (`0.0.0-unknown`, `N/A`), and is taken for the newest.
fn is_before_2503(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split(|letter: char| !letter.is_ascii_digit());
    let month = numbers.nth(2).and_then(|third| third.parse::<u32>().ok());
    month.is_some_and(|month| (FIRST_MONTH..2503).contains(&month))
}

/// January 2020, before any release.
const FIRST_MONTH: u32 = 2001;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_known_by_its_month_whatever_stands_behind_it() {
        for (version, is_before) in [
            ("v0.0.2502", true),
            ("0.0.2502+45ec48a", true),
            ("v0.0.2502-12-g45ec48a.dirty", true),
            ("v0.0.2503", false),
            ("v0.0.2608", false),
            ("0.0.0-unknown", false),
            ("N/A", false),
            ("", false),
        ] {
            assert_eq!(is_before_2503(version), is_before, "{version}");
        }
    }
}
