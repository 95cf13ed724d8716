//! Submissions in a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hammer_synth::{Algorithm, FileChains, HierarchySpec, IssuerSource, MinterSpec, Profile, Seed, Validity};
use hammer_values::RenamedKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::CtError;
use crate::run::CtRun;
use crate::window::{Window, gap};

use super::audit_interval::AuditInterval;
use super::dates::unix_seconds;
use super::invalid::{InvalidKind, PolicyPlan};

/// Submissions in a plan file or on a command line; every key may be left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SubmitPlan {
    /// How many of 100 chains are precertificates, sent to `add-pre-chain`.
    pub precert_percent: u8,
    /// How many of 100 precertificates a Precertificate Signing Certificate signs (RFC 6962 section 3.1).
    pub precert_signing_percent: u8,
    /// What leaves and chains look like, each with its weight: names (`dv` two, `san100` a hundred), subject key (`p256`,
    /// `rsa2048`) and certificates sent (`chain2`, `chain3`), as in `dv-p256-chain2`. Empty: `dv-p256-chain2` alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, u32>,
    /// The algorithm of the derived authorities' keys.
    pub signer: SignerAlgorithm,
    /// The leaves' first valid second: RFC 3339 (`2026-01-01T00:00:00Z`), a date, or days from the run's epoch (`-30d`), which
    /// make other leaves in every run.
    pub not_before: String,
    /// The leaves' last valid second, likewise (`+60d`).
    pub not_after: String,
    /// The latest of the leaves' last valid seconds, likewise: each leaf's is drawn from `not_after` through this, so that
    /// temporal shards get theirs. Without it all have `not_after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after_until: Option<String>,
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
    pub logs: Vec<String>,
    /// Which leaves under the same roots; by default the workload's place in the plan. Runs of one seed and different
    /// streams submit different leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
    /// The log may hold these chains already: an SCT may then have an old timestamp and another's leaf index. Always so with
    /// `chains`.
    pub resubmitted: bool,
    /// How many of 100 submissions repeat a chain that the log has answered in this run, drawn evenly from a sample of what
    /// each shard got answered; fractions are allowed. A series of their own, `duplicate`. Those that are due before the
    /// first answer submit a chain of their own, and are in the step `nothing-to-repeat` too.
    pub duplicate_percent: f64,
    /// Whether the log answers a duplicate as it answered the first: another timestamp or leaf index is then a broken promise.
    /// RFC 6962 section 3 only says that a log may.
    pub deduplicates: bool,
    /// How many of 100 submissions are wrong on purpose; fractions are allowed. Those that a log always has to refuse are in
    /// the series `invalid`, where a refusal is a kept promise and acceptance a broken one; those that the log's policy decides
    /// about are in the series `observed`.
    pub invalid_percent: f64,
    /// What is wrong with them, each with its weight. Empty: all that a log always has to refuse, evenly.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub invalid: BTreeMap<InvalidKind, u32>,
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
            precert_percent: 0,
            precert_signing_percent: 0,
            profiles: BTreeMap::new(),
            signer: SignerAlgorithm::default(),
            not_before: "-30d".to_owned(),
            not_after: "+60d".to_owned(),
            not_after_until: None,
            with_root: false,
            ca: None,
            chains: Vec::new(),
            logs: Vec::new(),
            stream: None,
            resubmitted: false,
            duplicate_percent: 0.0,
            deduplicates: true,
            invalid_percent: 0.0,
            invalid: BTreeMap::new(),
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

    /// Looks for values that mean nothing.
    ///
    /// # Errors
    /// [`CtError::Value`] for shares outside of 0 to 100, alone or together, for invalid kinds that have no weight or cannot
    /// be made from files.
    pub fn check(&self) -> Result<(), CtError> {
        let refused = |key, value: String, expected| Err(CtError::Value { key, value, expected });
        let shares =
            [("duplicate_percent", self.duplicate_percent), ("invalid_percent", self.invalid_percent)];
        for (key, share) in shares {
            if !(0.0..=100.0).contains(&share) {
                return refused(key, share.to_string(), "0 to 100");
            }
        }
        let sum = self.duplicate_percent + self.invalid_percent;
        if sum > 100.0 {
            return refused("duplicate_percent + invalid_percent", sum.to_string(), "0 to 100");
        }
        if self.invalid_percent > 0.0 && self.invalid_kinds().next().is_none() {
            return refused("invalid", "0".to_owned(), "a kind with a weight");
        }
        let issued = |(kind, _): &(InvalidKind, u32)| kind.needs_issuer() && !self.chains.is_empty();
        if let Some((kind, _)) = self.invalid_kinds().find(issued) {
            let expected = "a kind that needs no issuer, since the chains come from files";
            return refused("invalid", kind.name().to_owned(), expected);
        }
        Ok(())
    }

    /// The kinds of invalid submissions with their weights: all that are always invalid unless some are named.
    pub(crate) fn invalid_kinds(&self) -> impl Iterator<Item = (InvalidKind, u32)> {
        let usual = |kind: &InvalidKind| {
            kind.is_always() && (self.chains.is_empty() || !kind.needs_issuer()) && self.invalid.is_empty()
        };
        let usual = InvalidKind::ALL.into_iter().filter(usual).map(|kind| (kind, 1));
        let named = self.invalid.iter().map(|(kind, weight)| (*kind, *weight));
        named.filter(|(_, weight)| *weight > 0).chain(usual)
    }

    /// What mints the chains in that run.
    ///
    /// # Errors
    /// [`CtError::Value`] for an unknown profile or an unreadable date, and those of [`Validity::new`].
    pub fn minter_spec(&self, run: &CtRun) -> Result<MinterSpec, CtError> {
        let epoch = run.epoch_unix_ms / 1000;
        let not_before = unix_seconds("not_before", &self.not_before, epoch)?;
        let not_after = unix_seconds("not_after", &self.not_after, epoch)?;
        let mut validity = Validity::new(not_before, not_after)?;
        if let Some(until) = &self.not_after_until {
            validity = validity.spread_to(unix_seconds("not_after_until", until, epoch)?)?;
        }
        Ok(MinterSpec {
            seed: Seed::from_u64(run.seed),
            stream: self.stream.unwrap_or(run.workload),
            issuer: self.issuer()?,
            mix: self.mix()?,
            validity,
            precert_percent: self.precert_percent,
            precert_signing_percent: self.precert_signing_percent,
            with_root: self.with_root,
        })
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
        Ok(match self.chains.as_slice() {
            [] => None,
            [folder] if folder.is_dir() => Some(FileChains::read_folder(folder)?),
            files => Some(FileChains::read(files)?),
        })
    }

    /// Who issues the leaves. Derived roots depend on the seed and the algorithm alone, so that a log that was given them
    /// accepts every plan of that seed.
    pub(crate) fn issuer(&self) -> Result<IssuerSource, CtError> {
        Ok(match &self.ca {
            Some(ca) => IssuerSource::Files { chain: ca.chain.clone(), key: ca.key.clone() },
            None => IssuerSource::Derived(HierarchySpec {
                algorithm: self.signer.into(),
                depth: DEPTH,
                validity: Validity::new(AUTHORITIES_NOT_BEFORE, AUTHORITIES_NOT_AFTER)?,
            }),
        })
    }

    fn mix(&self) -> Result<Vec<(Profile, u32)>, CtError> {
        if self.profiles.is_empty() {
            return Ok(vec![(Profile::DV, 1)]);
        }
        let known = |(name, weight): (&String, &u32)| Ok((name.parse()?, *weight));
        self.profiles.iter().map(known).collect()
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
