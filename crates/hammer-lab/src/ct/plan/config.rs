//! The log as it starts: a plan with its files read.

use std::{fs, path::Path};

use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::CtLabPlan;
use crate::error::LabError;

/// Where the log's P-256 key comes from.
#[derive(Debug, Clone)]
pub enum KeySource {
    /// Derived; whoever knows the seed holds the key.
    Seed(u64),
    /// SEC1 or PKCS#8 PEM.
    Pem(String),
}

/// Everything a log needs to start.
#[derive(Debug, Clone)]
pub struct LogConfig {
    /// What the plan says.
    pub plan: CtLabPlan,
    /// DER of the accepted roots, those of the plan's files first.
    pub roots: Vec<Vec<u8>>,
    /// The log's key.
    pub key: KeySource,
}

impl LogConfig {
    /// Reads the plan's files.
    ///
    /// # Errors
    /// A file that cannot be read, or that is not PEM.
    pub fn from_plan(plan: CtLabPlan) -> Result<Self, LabError> {
        let key = match &plan.private_key {
            Some(path) => KeySource::Pem(read(path)?),
            None => KeySource::Seed(plan.key_seed),
        };
        let files = plan.roots_pem_files.clone();
        let mut config = Self { plan, roots: Vec::new(), key };
        files.iter().try_for_each(|path| config.add_roots_file(path))?;
        Ok(config)
    }

    /// Adds the roots of a PEM file.
    ///
    /// # Errors
    /// A file that cannot be read, is not PEM, or has no certificate in it.
    pub fn add_roots_file(&mut self, path: &Path) -> Result<(), LabError> {
        let found = certificates(&read(path)?);
        self.roots.extend(found.map_err(|reason| LabError::Content { path: path.to_owned(), reason })?);
        Ok(())
    }

    /// Adds one root in DER.
    pub fn add_root_der(&mut self, der: impl Into<Vec<u8>>) {
        self.roots.push(der.into());
    }

    /// The checkpoint's origin line.
    #[must_use]
    pub fn origin(&self) -> String {
        self.plan.origin.clone().unwrap_or_else(|| match self.plan.path_prefix.trim_matches('/') {
            "" => "127.0.0.1".into(),
            prefix => format!("127.0.0.1/{prefix}"),
        })
    }
}

/// The certificates of a PEM text, in DER; one at least.
fn certificates(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let found = CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    match found.map_err(|error| error.to_string())? {
        none if none.is_empty() => Err("no certificate in it".to_owned()),
        found => Ok(found.iter().map(|certificate| certificate.to_vec()).collect()),
    }
}

fn read(path: &Path) -> Result<String, LabError> {
    fs::read_to_string(path).map_err(|source| LabError::File { action: "read", path: path.into(), source })
}
