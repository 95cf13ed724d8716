//! OpenSSL, which judges what the embedded services answer.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// A folder with the files of one verification.
pub(crate) struct OpensslFolder {
    folder: TempDir,
}

impl OpensslFolder {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What it prints, or why it failed.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("openssl").args(arguments).current_dir(self.path()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stdout) + &text(&output.stderr)),
        }
    }
}

/// DER in PEM.
pub(crate) fn pem(label: &str, der: &[u8]) -> String {
    let body = hammer_tlog::encoding::base64(der);
    let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// The DER of each certificate of a text.
pub(crate) fn certificates(text: &str) -> Vec<Vec<u8>> {
    let blocks = text.split("-----BEGIN CERTIFICATE-----").skip(1);
    let body = |block: &str| {
        let (body, _) = block.split_once("-----END CERTIFICATE-----").unwrap();
        let body: String = body.split_ascii_whitespace().collect();
        hammer_tlog::encoding::from_base64(body).unwrap()
    };
    blocks.map(body).collect()
}
