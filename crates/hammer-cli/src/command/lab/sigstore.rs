//! `hammer lab sigstore`: all services of one instance, and what their clients need of them.

use std::io;
use std::path::{Path, PathBuf};

use hammer_core::clock::unix_millis;
use hammer_lab::LabError;
use hammer_lab_sigstore::fulcio::SctPlace;
use hammer_lab_sigstore::{SigstoreLab, SigstoreLabPlan};
use hammer_oauth::{IdentityClaims, IssuerKeys, IssuerUrlError, MintScratch, TokenMinter};
use hammer_report::ExitCode;
use hammer_sigstore::TokenSigner;
use serde_json::{Value, json};

use crate::args::LabSigstoreArgs;
use crate::command::foreground::until_signal;
use crate::error::{CliError, OutputError};
use crate::output::FileFolder;
use crate::output::standard::{print, say_notes};
use crate::plan::path::PlanPath;
use crate::plan::read::SourcedPlan;
use crate::protocol::lab::unstarted;
use crate::protocol::registry::Registry;
use crate::protocol::sigstore::issuer::{OWN_ISSUER, issuer_keys, signer_of, trusted_issuer};

use super::process::{config, quoted};

pub(super) fn serve(args: &LabSigstoreArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let settings = config::<SigstoreLabPlan>(args.config.as_deref(), &args.set, registry)?;
    let SourcedPlan { plan, source } = settings;
    say_notes(&source)?;
    let refused = |error: LabError| unstarted(error, &PlanPath::default()).placed(&source);
    let keys = issuer_keys(args.seed, signer_of(plan.token_signature));
    let token = token(keys.clone(), &plan.fulcio.audience, unix_millis() / 1000);
    let has_rs256 = signer_of(plan.token_signature) == TokenSigner::Rs256;
    let origin = plan.rekor_tiles.hostname.clone();
    // A bundle has no place for an SCT beside its certificate.
    let has_sct = plan.has_ct_log && plan.fulcio.sct == SctPlace::Embedded;
    let unusable = |why: IssuerUrlError| LabError::Plan { key: "issuer".into(), reason: why.to_string() };
    let issuer = trusted_issuer(&keys).map_err(unusable)?;
    let lab = SigstoreLab::spawn(plan, vec![issuer]).map_err(refused)?;
    let mut target = target(&lab, &origin);
    let written = args.out.as_ref().map(|folder| WrittenFiles::to(folder, &lab, &token)).transpose()?;
    let lines = match &written {
        Some(written) => written.cosign(has_sct) + &lines(&lab, &written.hammer()) + &grants(&lab.issuer.url),
        None => lines(&lab, &HammerTrust::of_seed(args.seed, has_rs256)),
    };
    // What is on standard output is read by programs.
    print(io::stderr(), |out| out.write_all(lines.as_bytes()))?;
    if let Some(written) = written {
        target["trusted_root"] = json!(written.trusted_root);
        target["tuf"] = json!({ "url": lab.tuf.url, "root": written.root });
        target["identity"] = json!({ "token": { "file": written.token } });
    }
    until_signal(&target)?;
    let stats = stopped(lab);
    print(io::stdout(), |out| writeln!(out, "{stats}"))?;
    Ok(ExitCode::Clean)
}

/// Where the services are, as stands under `target.sigstore` of a plan.
fn target(lab: &SigstoreLab, origin: &str) -> Value {
    json!({
        "fulcio_url": lab.fulcio.url,
        "fulcio_grpc_url": lab.fulcio.url,
        "rekor_url": lab.rekor.url,
        "rekor_tiles_url": lab.rekor_tiles.url,
        "rekor_tiles_grpc_url": lab.rekor_tiles.url,
        "rekor_tiles_origin": origin,
        "timestamp_url": lab.timestamp_authority.url,
    })
}

/// Ends the services; what each has counted.
fn stopped(lab: SigstoreLab) -> Value {
    let SigstoreLab { fulcio, ct_log, rekor, rekor_tiles, timestamp_authority, tuf, issuer, .. } = lab;
    json!({
        "fulcio": fulcio.stop(),
        "ct_log": ct_log.map(hammer_lab::LabHandle::stop),
        "rekor": rekor.stop(),
        "rekor_tiles": rekor_tiles.stop(),
        "timestamp_authority": timestamp_authority.stop(),
        "tuf": tuf.stop(),
        "issuer": issuer.stop(),
    })
}

/// A token that Fulcio takes for a day from `now`, in seconds since 1970.
fn token(keys: IssuerKeys, audience: &str, now: u64) -> String {
    let now = now.cast_signed();
    let claims = IdentityClaims {
        subject: SUBJECT,
        email: Some(SUBJECT),
        issued_at: now,
        expires_at: now + DAY,
        extra: &[],
    };
    let mut token = String::new();
    // The index of no flow: two tokens of one index would share a nonce.
    TokenMinter::new(OWN_ISSUER, audience, keys).mint(
        u64::MAX,
        &claims,
        &mut MintScratch::default(),
        &mut token,
    );
    token
}

/// The files of an instance, by paths that hold in any folder.
struct WrittenFiles {
    trusted_root: PathBuf,
    signing_config: PathBuf,
    /// Something to sign.
    artifact: PathBuf,
    /// What clients of the TUF repository come with.
    root: PathBuf,
    token: PathBuf,
}

impl WrittenFiles {
    fn to(folder: &Path, lab: &SigstoreLab, token: &str) -> Result<Self, OutputError> {
        let folder = FileFolder::made(OUT, folder)?;
        let write = |name: &str, text: &str| folder.write(name, text.as_bytes());
        let root = String::from_utf8_lossy(&lab.tuf.target().first_root()).into_owned();
        Ok(Self {
            signing_config: write("signing_config.json", lab.signing_config())?,
            artifact: write("artifact", "what is signed\n")?,
            trusted_root: write("trusted_root.json", lab.trusted_root())?,
            root: write("root.json", &root)?,
            // cosign sends the file as it stands, a line's end and all.
            token: write("token", token)?,
        })
    }

    /// How cosign signs and verifies on the instance, as a shell takes it.
    fn cosign(&self, has_sct: bool) -> String {
        let [artifact, config, root, token] =
            [&self.artifact, &self.signing_config, &self.trusted_root, &self.token]
                .map(|path| path_quoted(path));
        let bundle = path_quoted(&self.artifact.with_extension("sigstore.json"));
        let without_sct = if has_sct { "" } else { " --insecure-ignore-sct" };
        format!(
            "cosign signs and verifies here by\n\n    \
             cosign sign-blob {artifact} --bundle {bundle} --signing-config {config} --trusted-root {root} \
             --identity-token {token} --yes\n    \
             cosign verify-blob {artifact} --bundle {bundle} --trusted-root {root} --certificate-identity {SUBJECT} \
             --certificate-oidc-issuer {OWN_ISSUER}{without_sct}\n\n"
        )
    }
}

/// How hammer is told whom to trust, and whose tokens to show, as a shell takes it.
struct HammerTrust {
    trust: String,
    identity: String,
    /// Where a corpus is kept.
    corpus: Option<String>,
}

impl WrittenFiles {
    /// With the files.
    fn hammer(&self) -> HammerTrust {
        HammerTrust {
            trust: format!("--trusted-root {}", path_quoted(&self.trusted_root)),
            identity: format!("--token-file {}", path_quoted(&self.token)),
            corpus: Some(path_quoted(&self.artifact.with_file_name("corpus.jsonl"))),
        }
    }
}

impl HammerTrust {
    /// Without any file: by what the services say of themselves, and by tokens of the issuer of that seed.
    fn of_seed(seed: u64, has_rs256: bool) -> Self {
        let signer = if has_rs256 { " --rs256" } else { "" };
        Self {
            trust: "--trust servers".to_owned(),
            identity: format!("--issuer {OWN_ISSUER} --listen 127.0.0.1:0{signer} --seed {seed}"),
            corpus: None,
        }
    }
}

/// How hammer signs and verifies on the instance, as a shell takes it.
fn lines(lab: &SigstoreLab, with: &HammerTrust) -> String {
    let HammerTrust { trust, identity, corpus } = with;
    let (rekor, timestamp) = (&lab.rekor.url, &lab.timestamp_authority.url);
    let sign =
        format!("--fulcio {} --rekor {rekor} --timestamp {timestamp} {trust} {identity}", lab.fulcio.url);
    // Without files, it has to ask for the chain.
    let fulcio = if corpus.is_some() { String::new() } else { format!(" --fulcio {}", lab.fulcio.url) };
    let verify = format!("--rekor {rekor} --timestamp {timestamp} {trust}{fulcio}");
    let fill = corpus.as_ref().map(|corpus| format!("fill {sign} --flows 50 --corpus {corpus}"));
    let corpus = corpus.as_ref().map_or_else(String::new, |corpus| format!(" --corpus {corpus}"));
    let lines = [
        Some(format!("sign {sign} --rate 10/s --for 10s")),
        fill,
        Some(format!("verify {verify}{corpus} --rate 20/s --for 10s")),
        Some(format!("mixed {sign} --sign-rate 10/s --verify-rate 40/s --for 10s")),
        Some(format!("tsa {timestamp} {trust} --rate 50/s --for 10s")),
    ];
    let lines: String = lines.iter().flatten().map(|line| format!("    hammer sigstore {line}\n")).collect();
    format!("hammer signs and verifies here by\n\n{lines}\n")
}

/// Where tokens are granted, as a plan says it.
fn grants(issuer: &str) -> String {
    format!(
        "tokens are granted to clients and by passwords, whatever they are, by\n\n    \
         identity: {{ grant: {{ issuer: \"{issuer}\", client_id: hammer, client_secret: {{ env: SECRET }} }} }}\n\n"
    )
}

fn path_quoted(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// What names the folder of its files.
const OUT: &str = "--out";
/// In whose name the written token is.
const SUBJECT: &str = "lab@hammer.test";
/// Seconds.
const DAY: i64 = 86_400;
