//! `hammer sigstore verify-bundle`: bundles in files, verified offline by the judges of flows.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use hammer_report::{ExitCode, ReasonKind, rfc3339};
use hammer_sigstore::{
    BundleFault, BundleVerifier, ExpectedBundle, SignedBundle, SigstoreError, TrustedRoot, VerifiedBundle,
    VerifiedScts,
};
use hammer_tlog::keys::key::LogKey;
use serde_json::{Value, json};

use crate::args::VerifyBundleArgs;
use crate::bounded_file::bytes;
use crate::error::{CliError, UsageError};
use crate::output::standard::print;

pub(super) fn verify(args: &VerifyBundleArgs) -> Result<ExitCode, CliError> {
    let root = TrustedRoot::from_file(&args.trusted_root).map_err(|why| unusable("--trusted-root", why))?;
    let key = args.key.as_deref().map(key).transpose()?;
    let stated = args.artifact.as_deref().map(|path| flagged(ARTIFACT, path, MOST_ARTIFACT)).transpose()?;
    let mut verifier = BundleVerifier::of_root(&root);
    let (mut judged, mut unverified) = (Vec::new(), Vec::new());
    for path in &args.bundles {
        let mut judge = || {
            let text = read(path, MOST_BUNDLE)?;
            // What is no object of JSON is another file, and no bundle that lacks something.
            if text.trim_ascii_start().first() != Some(&b'{') {
                let source = io::Error::other("it is no bundle: that is an object of JSON");
                return Err(UsageError::File { path: path.clone(), source }.into());
            }
            let beside = if stated.is_none() { beside(path)? } else { None };
            let expected = ExpectedBundle {
                artifact: stated.as_deref().or(beside.as_deref()),
                identity: args.identity.as_deref(),
                issuer: args.issuer.as_deref(),
                key: key.as_ref(),
                detached_sct: None,
            };
            said(&mut verifier, path, &text, &expected)
        };
        match judge() {
            Ok(said) => judged.push(JudgedFile { path, said }),
            Err(why) => unverified.push(why),
        }
    }
    let is_broken = judged.iter().any(JudgedFile::is_broken);
    // What is broken is told whatever becomes of the other files.
    if !is_broken && !unverified.is_empty() {
        return Err(unverified.remove(0));
    }
    let unverified: Vec<String> = unverified.iter().map(ToString::to_string).collect();
    let code = ExitCode::of(is_broken.then_some(ReasonKind::PromiseBroken));
    let text = match args.json {
        true => format!("{}\n", in_json(&judged, &unverified, code)),
        false => in_text(&judged, &unverified, code),
    };
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(code)
}

/// A file, and what was found of it.
struct JudgedFile<'a> {
    path: &'a Path,
    /// What was verified, or kind and detail of what does not hold.
    said: Result<VerifiedBundle, (&'static str, String)>,
}

fn said(
    verifier: &mut BundleVerifier,
    path: &Path,
    text: &[u8],
    expected: &ExpectedBundle<'_>,
) -> Result<Result<VerifiedBundle, (&'static str, String)>, CliError> {
    let bundle = match SignedBundle::parse(text) {
        Ok(bundle) => bundle,
        Err(why) => return Ok(Err((MALFORMED, format!("failed to {why}")))),
    };
    match verifier.verify(&bundle, expected) {
        Ok(verified) => Ok(Ok(verified)),
        Err(BundleFault::Broken(fault)) => Ok(Err((fault.kind, fault.detail))),
        Err(BundleFault::Needs { part, what }) => {
            Err(UsageError::Unverifiable { path: path.to_owned(), part, what }.into())
        }
        Err(BundleFault::Unverified(why)) => {
            Err(UsageError::Unverified { path: path.to_owned(), why }.into())
        }
    }
}

impl JudgedFile<'_> {
    const fn is_broken(&self) -> bool {
        self.said.is_err()
    }

    fn line(&self) -> String {
        let path = self.path.display();
        match &self.said {
            Err((kind, detail)) => format!("BROKEN     {path}: {kind}: {detail}"),
            Ok(verified) => {
                let VerifiedBundle { entry, log_index, identity, issuer, signed_at_ms, has_artifact, scts } =
                    verified;
                let mut line = format!("verified   {path}: ");
                let _ = match (identity, issuer) {
                    (None, _) => write!(line, "by the key"),
                    (Some(identity), None) => write!(line, "by {identity}"),
                    (Some(identity), Some(issuer)) => write!(line, "by {identity} of {issuer}"),
                };
                if let Some(at_ms) = signed_at_ms {
                    let _ = write!(line, " at {}", rfc3339(at_ms.unsigned_abs()));
                }
                let _ = write!(line, ", {entry} at index {log_index}");
                if !has_artifact {
                    line.push_str("; the artifact was not at hand");
                }
                if *scts == VerifiedScts::Unverified {
                    line.push_str(NO_CT_LOG);
                }
                line
            }
        }
    }

    fn json(&self) -> Value {
        let path = self.path.display().to_string();
        match &self.said {
            Err((kind, detail)) => json!({ "bundle": path, "broken": { "kind": kind, "detail": detail } }),
            Ok(verified) => json!({
                "bundle": path,
                "broken": null,
                "entry": verified.entry,
                "log_index": verified.log_index,
                "identity": verified.identity,
                "issuer": verified.issuer,
                "signed_at": verified.signed_at_ms.map(|at_ms| rfc3339(at_ms.unsigned_abs())),
                "has_artifact": verified.has_artifact,
                "scts": match verified.scts {
                    VerifiedScts::Absent => None,
                    VerifiedScts::Verified => Some("verified"),
                    VerifiedScts::Unverified => Some("unverified"),
                },
            }),
        }
    }
}

fn in_text(judged: &[JudgedFile<'_>], unverified: &[String], code: ExitCode) -> String {
    let verdict = if code == ExitCode::Clean { "PASS" } else { "FAIL" };
    let lines = judged.iter().map(|file| format!("{}\n", file.line()));
    let lines = lines.chain(unverified.iter().map(|why| format!("unverified {why}\n")));
    format!("{verdict}, exit {}\n{}", code.number(), lines.collect::<String>())
}

fn in_json(judged: &[JudgedFile<'_>], unverified: &[String], code: ExitCode) -> Value {
    let bundles: Vec<Value> = judged.iter().map(JudgedFile::json).collect();
    json!({ "schema": "hammer.verify-bundle/1", "exit_code": code.number(), "bundles": bundles, "unverified": unverified })
}

/// The artifact that stands beside its bundle.
fn beside(bundle: &Path) -> Result<Option<Vec<u8>>, CliError> {
    let Some(name) = bundle.to_str().and_then(|path| path.strip_suffix(SUFFIX)) else { return Ok(None) };
    let path = PathBuf::from(name);
    if path.is_file() { read(&path, MOST_ARTIFACT).map(Some) } else { Ok(None) }
}

/// A file that no flag names.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, CliError> {
    bytes(path, most).map_err(|source| UsageError::File { path: path.to_owned(), source }.into())
}

/// The file that a flag names.
fn flagged(flag: &'static str, path: &Path, most: u64) -> Result<Vec<u8>, CliError> {
    bytes(path, most).map_err(|source| UsageError::FlaggedFile { flag, path: path.to_owned(), source }.into())
}

fn key(path: &Path) -> Result<LogKey, CliError> {
    let text = String::from_utf8(flagged(KEY, path, MOST_BUNDLE)?).unwrap_or_default();
    let refused = |source| SigstoreError::Key { key: KEY, path: path.to_owned(), source };
    text.parse().map_err(refused).map_err(|why| unusable(KEY, why))
}

fn unusable(flag: &'static str, source: SigstoreError) -> CliError {
    UsageError::Sigstore { flag, source }.into()
}

/// What is said of a bundle whose certificate has SCTs that nobody looked at.
const NO_CT_LOG: &str = "; the SCTs of its certificate were not verified, since no CT log among the trusted root's `ctlogs` is known";
const ARTIFACT: &str = "--artifact";
const KEY: &str = "--key";
/// What has not even the form of a bundle.
const MALFORMED: &str = "malformed-bundle";
/// What is behind an artifact's name in that of its bundle.
const SUFFIX: &str = ".sigstore.json";
/// Bytes of a bundle, of which most are those of an attestation.
const MOST_BUNDLE: u64 = 32 << 20;
/// Bytes of what was signed, all of which are held in memory.
const MOST_ARTIFACT: u64 = 4 << 30;
