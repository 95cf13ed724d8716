//! `hammer attest device`: one device of a load, to be tried by hand.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use hammer_attest::{DeviceClass, DeviceMaterial, DeviceScratch, Devices, Evidence, TokenNumber};
use hammer_rats::{PsaDialect, TokenProfile};
use hammer_report::ExitCode;

use crate::args::{DeviceArgs, DialectArg, ProfileArg};
use crate::error::{CliError, UsageError};
use crate::output::FileFolder;
use crate::output::standard::print;

pub(super) fn write(args: &DeviceArgs) -> Result<ExitCode, CliError> {
    let dialect = match args.dialect {
        DialectArg::Iot1 => PsaDialect::Iot1,
        DialectArg::Psa2025 => PsaDialect::Psa2025,
    };
    let profile = match args.profile {
        ProfileArg::Psa1 => TokenProfile::Psa1,
        ProfileArg::Psa2 => TokenProfile::Psa2,
    };
    let devices = Devices::new(args.seed, STREAM, args.models);
    let (mut material, mut scratch) = (DeviceMaterial::default(), DeviceScratch::default());
    devices.write(args.index, &mut material);
    let nonce = match &args.nonce {
        Some(text) => nonce(text)?,
        None => devices.nonce(args.index).to_vec(),
    };
    let (mut corim, mut token) = (Vec::new(), Vec::new());
    devices.write_corim(&material, dialect, &mut scratch, &mut corim);
    let number = TokenNumber { stream: STREAM, seq: args.index };
    let evidence = Evidence { class: DeviceClass::Good, profile, nonce: &nonce, token: number };
    devices.write_evidence(args.index, &evidence, &mut scratch, (&mut material, &mut token));
    let key = devices.key(args.index, &mut scratch);
    let folder = FileFolder::made("--out", &args.out)?;
    let key = hammer_attest::private_pem(&key);
    folder.check_unlike(&[(CORIM, &corim), (KEY, key.as_bytes()), (TOKEN, &token)])?;
    let corim = folder.write(CORIM, &corim)?;
    let key = folder.write_private(KEY, key.as_bytes())?;
    let token = folder.write(TOKEN, &token)?;
    let said = [
        format!("device {} of seed {}, whose key is {}", args.index, args.seed, key.display()),
        String::new(),
        "A verifier comes to know it by".to_owned(),
        format!(
            "  curl -H 'Content-Type: {}' --data-binary @{} PROVISIONING_URL/endorsement-provisioning/v1/submit",
            dialect.media_type(),
            corim.display()
        ),
        "and affirms it in a session, whose path is in the header `Location`, by".to_owned(),
        format!(
            "  curl -i -X POST 'VERIFICATION_URL/challenge-response/v1/newSession?nonce={}'",
            URL_SAFE.encode(&nonce)
        ),
        format!(
            "  curl -H 'Content-Type: application/psa-attestation-token' --data-binary @{} VERIFICATION_URL/challenge-response/v1/session/ID",
            token.display()
        ),
    ];
    print(io::stdout(), |out| said.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    Ok(ExitCode::Clean)
}

/// The nonce of a session, as a verifier of any release writes it.
fn nonce(text: &str) -> Result<Vec<u8>, UsageError> {
    let read = hammer_rats::base64_text::decode(text).filter(|nonce| NONCES.contains(&nonce.len()));
    read.ok_or(UsageError::Lacking { flag: "--nonce", lacks: "it is no base64 of 32, 48 or 64 bytes" })
}

/// The files of a device.
const CORIM: &str = "corim.cbor";
const KEY: &str = "key.pem";
const TOKEN: &str = "token.cbor";
/// What a PSA token has room for (RFC 9783 section 4.1.1).
const NONCES: [usize; 3] = [32, 48, 64];
/// The devices of a plan's only workload.
const STREAM: u64 = 0;
