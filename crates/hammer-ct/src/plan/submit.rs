//! Submissions in a plan.

use std::path::PathBuf;

use hammer_synth::{
    Algorithm, Error as SynthError, FileChains, HierarchySpec, IssuerSource, MinterSpec, Profile, Seed,
    Validity,
};
use hammer_values::{KeyConflict, Percent, PlanBlock, RenamedKey, Weights, WholePercent, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::CtError;
use crate::run::CtRun;
use crate::window::{Window, gap};

use super::audit_interval::AuditInterval;
use super::date::PlanDate;
use super::invalid::{InvalidKind, PolicyPlan};
use super::profile_name::ProfileName;

/// Submissions in a plan file or on a command line; every key may be left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SubmitPlan {
    /// How many of 100 chains are precertificates, sent to `add-pre-chain`.
    pub precert_percent: WholePercent,
    /// How many of 100 precertificates a Precertificate Signing Certificate signs (RFC 6962 section 3.1).
    pub precert_signing_percent: WholePercent,
    /// What leaves and chains look like, each with its weight: names (`dv` two, `san100` a hundred), subject key (`p256`,
    /// `rsa2048`) and certificates sent (`chain2`, `chain3`), as in `dv-p256-chain2`. Empty: `dv-p256-chain2` alone.
    #[serde(skip_serializing_if = "Weights::is_empty")]
    pub profiles: Weights<ProfileName>,
    /// The algorithm of the derived authorities' keys.
    pub signer: SignerAlgorithm,
    /// The leaves' first valid second: RFC 3339 (`2026-01-01T00:00:00Z`), a date, or days from the run's epoch (`-30d`), which
    /// make other leaves in every run.
    pub not_before: PlanDate,
    /// The leaves' last valid second, likewise (`+60d`).
    pub not_after: PlanDate,
    /// The latest of the leaves' last valid seconds, likewise: each leaf's is drawn from `not_after` through this, so that
    /// temporal shards get theirs. Without it all have `not_after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after_until: Option<PlanDate>,
    /// Whether the root ends every chain.
    pub with_root: bool,
    /// The user's own CA in place of derived authorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<CaPlan>,
    /// Chains to submit as they are, one a PEM file, the leaf first, over and over: files, or one folder of them. In place
    /// of all of the above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<PathBuf>,
    /// The names of the logs that it submits to; all without it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<Word>,
    /// Which leaves under the same roots; by default the workload's place in the plan. Runs of one seed and different
    /// streams submit different leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
    /// The log may hold these chains already: an SCT may then have an old timestamp and another's leaf index. Always so with
    /// `chains`, and where no date of the leaves is counted from the run's epoch.
    pub resubmitted: bool,
    /// How many of 100 submissions repeat a chain that the log has answered in this run, drawn evenly from a sample of what
    /// each shard got answered; fractions are allowed. A series of their own, `duplicate`. Those that are due before the
    /// first answer submit a chain of their own, and are in the step `nothing-to-repeat` too.
    pub duplicate_percent: Percent,
    /// Whether the log answers a duplicate as it answered the first: another timestamp or leaf index is then a broken promise.
    /// RFC 6962 section 3 only says that a log may.
    pub deduplicates: bool,
    /// How many of 100 submissions are wrong on purpose; fractions are allowed. Those that a log always has to refuse are in
    /// the series `invalid`, where a refusal is a kept promise and acceptance a broken one; those that the log's policy decides
    /// about are in the series `observed`.
    pub invalid_percent: Percent,
    /// What is wrong with them, each with its weight. Empty: all that a log always has to refuse, evenly.
    #[serde(skip_serializing_if = "Weights::is_empty")]
    pub invalid: Weights<InvalidKind>,
    /// What the log states about the chains that it accepts, beside its NotAfter window (`target.log`): `observed` submissions
    /// are judged by that, and by nothing else.
    pub policy: PolicyPlan,
    /// Whether every accepted chain stays a pending promise until its leaf was found in the log's tree, at the promised index:
    /// the log is then followed and read along with the load, and drain waits until nothing is pending. To be switched off for
    /// a log whose tree cannot be read from here.
    pub audit: bool,
    /// How often the audit asks for the tree head; 50ms at least.
    pub audit_interval: AuditInterval,
}

/// The algorithm of a key that signs certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SignerAlgorithm {
    /// ECDSA over P-256 with SHA-256.
    #[default]
    P256,
    /// RSA PKCS #1 v1.5 of 2048 bits with SHA-256.
    Rsa2048,
    /// Ed25519.
    Ed25519,
}

/// The user's own CA.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaPlan {
    /// PEM file: the issuing certificate first, then those above it.
    pub chain: PathBuf,
    /// PEM file: its private key.
    pub key: PathBuf,
}

impl Default for SubmitPlan {
    fn default() -> Self {
        Self {
            precert_percent: WholePercent::ZERO,
            precert_signing_percent: WholePercent::ZERO,
            profiles: Weights::default(),
            signer: SignerAlgorithm::default(),
            not_before: PlanDate::Days(-30),
            not_after: PlanDate::Days(60),
            not_after_until: None,
            with_root: false,
            ca: None,
            chains: Vec::new(),
            logs: Vec::new(),
            stream: None,
            resubmitted: false,
            duplicate_percent: Percent::ZERO,
            deduplicates: true,
            invalid_percent: Percent::ZERO,
            invalid: Weights::default(),
            policy: PolicyPlan::default(),
            audit: true,
            audit_interval: AuditInterval::default(),
        }
    }
}

impl SubmitPlan {
    /// What its keys were called before.
    pub const RENAMED: &[RenamedKey] = &[
        RenamedKey { old: "audit_interval_ms", new: "audit_interval", unit: "ms" },
        RenamedKey { old: "policy.max_bytes", new: "max_body", unit: "B" },
    ];

    /// The kinds of invalid submissions with their weights: all that are always invalid unless some are named.
    pub(crate) fn invalid_kinds(&self) -> impl Iterator<Item = (InvalidKind, u32)> {
        let usual = |kind: &InvalidKind| {
            kind.is_always() && (self.chains.is_empty() || !kind.needs_issuer()) && self.invalid.is_empty()
        };
        let usual = InvalidKind::ALL.into_iter().filter(usual).map(|kind| (kind, 1));
        self.invalid.drawn().map(|(kind, weight)| (*kind, weight)).chain(usual)
    }

    /// What mints the chains in that run.
    ///
    /// # Errors
    /// [`CtError::Value`] for days that lead out of the years that there are, and those of [`Validity::new`].
    pub fn minter_spec(&self, run: &CtRun) -> Result<MinterSpec, CtError> {
        let epoch = run.epoch_unix_ms / 1000;
        let not_before = self.not_before.unix_seconds("not_before", epoch)?;
        let not_after = self.not_after.unix_seconds("not_after", epoch)?;
        let at = |key| move |source| CtError::Synth { key: Some(key), source };
        let mut validity = Validity::new(not_before, not_after).map_err(at("not_after"))?;
        if let Some(until) = self.not_after_until {
            let until = until.unix_seconds("not_after_until", epoch)?;
            validity = validity.spread_to(until).map_err(at("not_after_until"))?;
        }
        Ok(MinterSpec {
            seed: Seed::from_u64(run.seed),
            stream: self.stream.unwrap_or(run.workload),
            issuer: self.issuer()?,
            mix: self.mix(),
            validity,
            precert_percent: self.precert_percent.of_100(),
            precert_signing_percent: self.precert_signing_percent.of_100(),
            with_root: self.with_root,
        })
    }

    /// Whether another run of this plan mints the same leaves: no date of theirs is counted from the run's epoch.
    pub fn has_fixed_dates(&self) -> bool {
        let dates = [Some(self.not_before), Some(self.not_after), self.not_after_until];
        self.chains.is_empty() && dates.into_iter().flatten().all(PlanDate::is_fixed)
    }

    /// Looks for a leaf that none of the logs takes, by their windows, without minting or reading any.
    ///
    /// # Errors
    /// [`CtError::NoLog`], and those of [`SubmitPlan::minter_spec`].
    pub fn check_windows(&self, windows: &[Window], run: &CtRun) -> Result<(), CtError> {
        if !self.chains.is_empty() {
            return Ok(());
        }
        let validity = self.minter_spec(run)?.validity;
        match gap(windows, validity.not_after(), validity.last_not_after()) {
            Some(not_after) => Err(CtError::no_log(not_after)),
            None => Ok(()),
        }
    }

    /// The chains from files; none where chains are minted.
    ///
    /// # Errors
    /// Those of [`FileChains::read`].
    pub fn file_chains(&self) -> Result<Option<FileChains>, CtError> {
        let chains = match self.chains.as_slice() {
            [] => return Ok(None),
            [folder] if folder.is_dir() => FileChains::read_folder(folder),
            files => FileChains::read(files),
        };
        chains.map(Some).map_err(|source| CtError::Synth { key: Some("chains"), source })
    }

    /// Why chains cannot be minted, with the key that says so.
    pub(crate) fn unminted(&self, source: SynthError) -> CtError {
        let ca = self.ca.as_ref();
        let key = match &source {
            SynthError::NoKey { .. }
            | SynthError::EncryptedKey { .. }
            | SynthError::Key { .. }
            | SynthError::KeyMismatch { .. } => ca.map(|_| "ca.key"),
            SynthError::Read { path, .. } | SynthError::Pem { path } => {
                ca.map(|ca| if *path == ca.key { "ca.key" } else { "ca.chain" })
            }
            SynthError::NoCertificate { .. }
            | SynthError::Certificate { .. }
            | SynthError::ChainOrder { .. } => ca.map(|_| "ca.chain"),
            _ => None,
        };
        CtError::Synth { key, source }
    }

    /// Who issues the leaves. Derived roots depend on the seed and the algorithm alone, so that a log that was given them
    /// accepts every plan of that seed.
    pub(crate) fn issuer(&self) -> Result<IssuerSource, CtError> {
        Ok(match &self.ca {
            Some(ca) => IssuerSource::Files { chain: ca.chain.clone(), key: ca.key.clone() },
            None => IssuerSource::Derived(HierarchySpec {
                algorithm: self.signer.into(),
                depth: DEPTH,
                validity: Validity::new(AUTHORITIES_NOT_BEFORE, AUTHORITIES_NOT_AFTER)
                    .map_err(|source| self.unminted(source))?,
            }),
        })
    }

    fn mix(&self) -> Vec<(Profile, u32)> {
        match self.profiles.is_empty() {
            true => vec![(Profile::DV, 1)],
            false => self.profiles.iter().map(|(name, weight)| (name.profile(), weight)).collect(),
        }
    }

    fn invalid_conflict(&self) -> Option<KeyConflict> {
        let sum = self.duplicate_percent.of_100() + self.invalid_percent.of_100();
        if sum > 100.0 {
            let reason = format!("with duplicates it comes to {sum} of 100");
            return Some(KeyConflict::at("invalid_percent", reason));
        }
        let issued = |(kind, _): &(InvalidKind, u32)| kind.needs_issuer() && !self.chains.is_empty();
        let (kind, _) = self.invalid_kinds().find(issued)?;
        let reason = format!("{} needs an issuer, but the chains come from files (chains)", kind.name());
        Some(KeyConflict::at("invalid", reason))
    }

    fn minting_conflict(&self) -> Option<KeyConflict> {
        let until = self.not_after_until;
        if self.precert_signing_percent > WholePercent::ZERO && self.ca.is_some() {
            // Whoever knows the seed has that key.
            let reason = "a CA from files (ca) certifies no key for signing precertificates, which the seed would make public";
            Some(KeyConflict::at("precert_signing_percent", reason))
        } else if self.not_after.is_before(self.not_before) {
            Some(KeyConflict::at("not_after", format!("it is before not_before, {}", self.not_before)))
        } else if until.is_some_and(|until| until.is_before(self.not_after)) {
            Some(KeyConflict::at("not_after_until", format!("it is before not_after, {}", self.not_after)))
        } else {
            None
        }
    }
}

impl PlanBlock for SubmitPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        // Nothing of how chains are minted counts where they come from files.
        let minting = || self.minting_conflict().filter(|_| self.chains.is_empty());
        self.invalid_conflict().or_else(minting)
    }
}

impl From<SignerAlgorithm> for Algorithm {
    fn from(algorithm: SignerAlgorithm) -> Self {
        match algorithm {
            SignerAlgorithm::P256 => Self::P256,
            SignerAlgorithm::Rsa2048 => Self::Rsa2048,
            SignerAlgorithm::Ed25519 => Self::Ed25519,
        }
    }
}

/// Intermediates, as the longest chain of any profile needs.
const DEPTH: usize = 2;
/// 2020-01-01T00:00:00Z.
const AUTHORITIES_NOT_BEFORE: u64 = 1_577_836_800;
/// 2049-12-31T23:59:59Z.
const AUTHORITIES_NOT_AFTER: u64 = 2_524_607_999;
