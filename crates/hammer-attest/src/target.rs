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
use crate::flow_waits::FlowWaits;
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
    /// How long flows waited for a device.
    pub waits: Arc<FlowWaits>,
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
            waits: Arc::default(),
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

    /// Where endorsements are submitted.
    ///
    /// # Errors
    /// When provisioning does not say so, or says what is no path.
    pub fn submit_path(&self) -> Result<&str, AttestError> {
        let document = self.provisioning.document();
        let path = document.and_then(|document| document.endpoints.submit.as_deref());
        of_path(DiscoveryKind::Provisioning, "`provisioningSubmit`", path)
    }

    /// Where sessions are opened; verification shows the key of its results as well.
    ///
    /// # Errors
    /// When verification does not say so, or says what is no path, or shows no key.
    pub fn session_path(&self) -> Result<&str, AttestError> {
        let kind = DiscoveryKind::Verification;
        let document = self.verification.document().ok_or(AttestError::Unsaid { kind, what: "anything" })?;
        let path = of_path(kind, "`newChallengeResponseSession`", document.endpoints.new_session.as_deref())?;
        if self.verification.documents.iter().all(|document| document.key.is_none()) {
            return Err(AttestError::Unsaid { kind, what: "`ear-verification-key`" });
        }
        Ok(path)
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

    /// That provisioning takes the endorsements of another release than verification says it is of, where it does: what it takes may mean nothing
    /// to that.
    pub fn of_two_releases(&self) -> Option<String> {
        let (provisioning, verification) = (self.provisioning.document()?, self.verification.document()?);
        let (taken, known) = (provisioning.dialect()?, dialect_of_release(&verification.version)?);
        (taken != known).then(|| {
            format!(
                "provisioning ({}) takes endorsements of another release than verification is of ({}), which may know nothing of them; devices are judged as verification's own release does",
                provisioning.version, verification.version
            )
        })
    }

    /// How verification judges a device of a class by its policy: that of the release which it names, or where it names none that is known, of that
    /// whose endorsements provisioning takes. While frontends are of several releases, as an upgrade has them, the policy of each is right.
    pub(crate) fn policy(&self) -> Policy {
        let documents = self.verification.documents.iter();
        let mut dialects: Vec<PsaDialect> =
            documents.filter_map(|document| dialect_of_release(&document.version)).collect();
        if dialects.is_empty() {
            dialects.extend(self.provisioning.documents.iter().filter_map(DiscoveryDocument::dialect));
        }
        let first = dialects.first().copied().unwrap_or(PsaDialect::Psa2025);
        let another = dialects.into_iter().find(|dialect| *dialect != first).unwrap_or(first);
        Policy { stated: DeviceClass::ALL.map(|class| self.expected.get(&class).copied()), first, another }
    }
}

fn of_path<'a>(
    kind: DiscoveryKind,
    what: &'static str,
    path: Option<&'a str>,
) -> Result<&'a str, AttestError> {
    let path = path.ok_or(AttestError::Unsaid { kind, what })?;
    let is_path = path.starts_with('/') && http::uri::PathAndQuery::try_from(path).is_ok();
    is_path.then_some(path).ok_or(AttestError::NoPath { kind, what })
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

/// What is said of devices of each class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// What the plan says of it.
    stated: [Option<TrustTier>; DeviceClass::ALL.len()],
    /// The dialect of the first frontend's release, and that of another one.
    first: PsaDialect,
    another: PsaDialect,
}

/// What is said of a device: one of two, which are the same where one policy alone is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DuePolicy {
    pub(crate) due: TrustTier,
    pub(crate) other: TrustTier,
}

impl Policy {
    /// What is due in a result that such software made: a service may have been upgraded since it was asked what it is.
    pub(crate) fn of(&self, class: DeviceClass, build: &str) -> DuePolicy {
        if let Some(due) = self.stated[class as usize] {
            return DuePolicy { due, other: due };
        }
        let [due, other] = match dialect_of_release(build) {
            Some(dialect) if dialect != self.first => [self.first, dialect],
            _ => [self.first, self.another],
        }
        .map(|dialect| class.expected(dialect));
        DuePolicy { due, other }
    }
}

/// The dialect of a release. Releases are named after their year and month: `v0.0.2502`. What is built from their sources may have a commit behind
/// it (`0.0.2502+45ec48a`), or say no month at all (`0.0.0-unknown`, `N/A`), and then nothing is known of it.
fn dialect_of_release(version: &str) -> Option<PsaDialect> {
    let mut numbers = version.trim_start_matches('v').split(|letter: char| !letter.is_ascii_digit());
    let month = numbers.nth(2).and_then(|third| third.parse::<u32>().ok());
    let month = month.filter(|month| (FIRST_MONTH..=LAST_MONTH).contains(month))?;
    Some(if month < 2503 { PsaDialect::Iot1 } else { PsaDialect::Psa2025 })
}

/// January 2020, before any release.
const FIRST_MONTH: u32 = 2001;
const LAST_MONTH: u32 = 9912;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_known_by_its_month_whatever_stands_behind_it() {
        let (old, new) = (Some(PsaDialect::Iot1), Some(PsaDialect::Psa2025));
        for (version, dialect) in [
            ("v0.0.2502", old),
            ("0.0.2502+45ec48a", old),
            ("v0.0.2502-12-g45ec48a.dirty", old),
            ("v0.0.2503", new),
            ("v0.0.2608", new),
            ("0.0.0-unknown", None),
            ("N/A", None),
            ("", None),
        ] {
            assert_eq!(dialect_of_release(version), dialect, "{version}");
        }
    }
}
