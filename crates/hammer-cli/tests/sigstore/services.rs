//! Embedded services of Sigstore in the test's own process, which can be asked what they did, and `hammer run` on them.

use std::fs;

use hammer_lab_sigstore::{SigstoreLab, SigstoreLabPlan, TokenSignature, TrustedIssuer};
use hammer_oauth::{IssuerDocuments, IssuerKeys, TokenAlgorithm};
use hammer_report::Report;
use hammer_synth::Seed;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hammer::{Ended, Started, command};

/// Services that trust the tokens of a run, and the folder where such a run leaves its files.
pub(crate) struct Services {
    pub(crate) lab: SigstoreLab,
    pub(crate) folder: TempDir,
    algorithm: TokenAlgorithm,
}

impl Services {
    /// Those of a plan. A run's tokens follow from its seed, which is 0 in all of these.
    pub(crate) fn of(plan: SigstoreLabPlan) -> Self {
        let algorithm = match plan.token_signature {
            TokenSignature::Es256 => TokenAlgorithm::Es256,
            TokenSignature::Rs256 => TokenAlgorithm::Rs256,
        };
        let documents = IssuerDocuments::new(ISSUER, &[&keys(algorithm)]).unwrap();
        let issuer = TrustedIssuer { issuer: ISSUER.to_owned(), jwks: documents.jwks };
        let lab = SigstoreLab::spawn(plan, vec![issuer]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(ROOT), lab.trusted_root()).unwrap();
        fs::write(folder.path().join(TUF_ROOT), lab.tuf.target().first_root()).unwrap();
        Self { lab, folder, algorithm }
    }

    /// What a plan has as `target.sigstore`.
    pub(crate) fn target(&self) -> Value {
        let SigstoreLab { fulcio, rekor, rekor_tiles, timestamp_authority, tuf, .. } = &self.lab;
        let signer = match self.algorithm {
            TokenAlgorithm::Es256 => "es256",
            TokenAlgorithm::Rs256 => "rs256",
        };
        json!({
            "fulcio_url": fulcio.url,
            "fulcio_grpc_url": fulcio.url,
            "rekor_url": rekor.url,
            "rekor_tiles_url": rekor_tiles.url,
            "rekor_tiles_grpc_url": rekor_tiles.url,
            "timestamp_url": timestamp_authority.url,
            "tuf": { "url": tuf.url, "root": TUF_ROOT },
            "trusted_root": ROOT,
            "rekor_tiles_origin": rekor_tiles.target().origin(),
            "identity": { "issuer": ISSUER, "listen": "127.0.0.1:0", "signer": signer },
        })
    }

    /// `hammer run PLAN` on them with changes, to its end.
    pub(crate) fn run(&self, plan: &str, changes: &[String]) -> Ended {
        self.start(plan, changes).ended()
    }

    /// The same, which has started.
    pub(crate) fn start(&self, plan: &str, changes: &[String]) -> Started {
        let target = format!("target={}", json!({ "sigstore": self.target() }));
        let mut run = command(&["run", plan, "--set", &target, "--out", "-"]);
        run.args(changes.iter().flat_map(|change| ["--set", change])).current_dir(self.folder.path());
        Started::of(run)
    }

    /// What it reports.
    pub(crate) fn report(&self, plan: &str, changes: &[String]) -> Report {
        self.run(plan, changes).report()
    }
}

/// The keys of the issuer of runs of seed 0.
pub(crate) fn keys(algorithm: TokenAlgorithm) -> IssuerKeys {
    IssuerKeys::derive(&Seed::from_u64(0), algorithm, 0)
}

/// By whose name tokens are signed; nobody looks it up.
pub(crate) const ISSUER: &str = "http://issuer.hammer.test";
const ROOT: &str = "trusted_root.json";
const TUF_ROOT: &str = "1.root.json";
