//! Whom to trust, as the services say of themselves: read once, before a run, and believed because they say so.

use std::fmt;
use std::rc::Rc;

use bytes::BytesMut;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_messages::fulcio::GET_TRUST_BUNDLE;
use hammer_net::grpc::{self, GrpcStatus, unary_reply, unary_request};
use hammer_net::{Answer, Client, ClientConfig, Request};
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::key::LogKey;

use crate::error::SigstoreError;
use crate::fulcio::{TRUST_BUNDLE, trust_bundle, trust_bundle_message};
use crate::pem;
use crate::rekor::PUBLIC_KEY;
use crate::rekor_tiles::CHECKPOINT;
use crate::target::SigstoreService;
use crate::timestamp::CHAIN;
use crate::trust::TrustedRoot;

/// What services say of themselves, put together.
#[derive(Clone, Debug, Default)]
pub struct ServedTrust {
    root: TrustedRoot,
    /// What is believed, and of whom, for whoever reads the report.
    said: Vec<String>,
}

impl ServedTrust {
    /// The services that say whom to trust, Fulcio in two ways; Rekor v2 and CT logs do not.
    pub const SERVICES: [SigstoreService; 4] = [
        SigstoreService::Fulcio,
        SigstoreService::FulcioGrpc,
        SigstoreService::Rekor,
        SigstoreService::Timestamp,
    ];

    /// Adds what the service at the client's first URL says.
    ///
    /// # Errors
    /// When it does not say it, or nothing that could be trusted.
    pub async fn ask(
        &mut self,
        service: SigstoreService,
        client: ClientConfig,
        clock: Rc<dyn Clock>,
    ) -> Result<(), SigstoreError> {
        let url = client.endpoints.first().map(ToString::to_string).unwrap_or_default();
        let url = format!("{}{}", url.trim_end_matches('/'), said_at(service));
        let failed = |reason: &dyn fmt::Display| SigstoreError::Served {
            key: service.key(),
            url: url.clone(),
            reason: reason.to_string(),
        };
        let body = read(client, clock, service, LONGEST).await.map_err(|why| failed(&why))?;
        self.believe(service, &body, &url).map_err(|why| failed(&why))
    }

    /// Adds what such a service answered at `url`: a body of HTTP, or a message of gRPC.
    ///
    /// # Errors
    /// What keeps it from being trusted.
    pub fn believe(&mut self, service: SigstoreService, body: &[u8], url: &str) -> Result<(), String> {
        let said = match service {
            SigstoreService::Fulcio | SigstoreService::FulcioGrpc => {
                let chains = match service.is_grpc() {
                    true => trust_bundle_message(body)?,
                    false => trust_bundle(body)?,
                };
                let chain = chains.into_iter().flatten().collect();
                let (chain, told) = believed(chain)?;
                self.root.fulcio = Some(chain);
                format!("the chain of Fulcio ({told})")
            }
            SigstoreService::Rekor => {
                let text = std::str::from_utf8(body).map_err(|_| "the key is no text".to_owned())?;
                let key = LogKey::from_pem(text).map_err(|why| format!("failed to {why}"))?;
                let told = format!("the key of Rekor (log ID {})", key.log_id().to_hex());
                self.root.add_log(key);
                told
            }
            _ => {
                let text = std::str::from_utf8(body).map_err(|_| "the chain is no text".to_owned())?;
                let chain = pem::certificates(text).ok_or_else(|| "the chain is no PEM".to_owned())?;
                let (chain, told) = believed(chain)?;
                self.root.timestamp = Some(chain);
                format!("the chain of the timestamp authority ({told})")
            }
        };
        self.said.push(format!("{said} as {url} has it"));
        Ok(())
    }

    /// All that is trusted.
    pub const fn root(&self) -> &TrustedRoot {
        &self.root
    }

    /// What has to be said of it, where there is anything.
    pub fn note(&self) -> Option<String> {
        let [.., _] = self.said.as_slice() else { return None };
        Some(format!(
            "ANSWERS ARE HELD TO WHAT THE SERVERS THEMSELVES SAID before the run (trust: servers), and nobody else vouches for it: {}",
            self.said.join("; ")
        ))
    }
}

/// A chain as it is trusted, and its root by its fingerprint.
fn believed(chain: Vec<Vec<u8>>) -> Result<(TrustedAuthorities, String), String> {
    let root =
        chain.last().map(|root| sha256(root).to_hex()).ok_or_else(|| "it has no certificate".to_owned())?;
    let chain = TrustedAuthorities::from_der(chain).map_err(|why| format!("failed to {why}"))?;
    Ok((chain, format!("SHA-256 of its root {root}")))
}

/// Where a service says whom to trust; of Rekor v2, where its log is read, by whom it is signed.
const fn said_at(service: SigstoreService) -> &'static str {
    match service {
        SigstoreService::Fulcio => TRUST_BUNDLE,
        SigstoreService::FulcioGrpc => GET_TRUST_BUNDLE,
        SigstoreService::Rekor => PUBLIC_KEY,
        SigstoreService::RekorTilesRead => CHECKPOINT,
        _ => CHAIN,
    }
}

/// What such a service answers: a body of HTTP, or a message of gRPC.
///
/// # Errors
/// Why it does not within that time.
pub(crate) async fn read(
    client: ClientConfig,
    clock: Rc<dyn Clock>,
    service: SigstoreService,
    patience: Nanos,
) -> Result<Vec<u8>, String> {
    let late = clock.sleep_until(clock.now().saturating_add(patience));
    tokio::select! {
        body = answered(client, clock, service) => body,
        () = late => Err(format!("it took more than {} s", patience.as_secs_f64())),
    }
}

async fn answered(
    mut client: ClientConfig,
    clock: Rc<dyn Clock>,
    service: SigstoreService,
) -> Result<Vec<u8>, String> {
    let path = said_at(service);
    if service.is_grpc() {
        let calls = client.version.of_calls();
        client.version = calls.ok_or_else(|| SigstoreError::GrpcOverHttp1.to_string())?;
    }
    let client = Client::new(client, clock, ConnectionLog::default()).map_err(|why| why.to_string())?;
    let path = client.path(path).map_err(|why| why.to_string())?;
    let mut answer = Answer::default();
    if service.is_grpc() {
        // No field of what is asked has a value.
        let message = grpc::frame(&[], &mut BytesMut::new()).map_err(|why| why.to_string())?;
        client.send(&unary_request(path, message), &mut answer).await.map_err(|why| why.to_string())?;
        let reply = unary_reply(&answer).map_err(|why| why.to_string())?;
        return match reply.status {
            GrpcStatus::Ok => Ok(reply.message.to_vec()),
            status => Err(format!("it was answered with {}", status.name())),
        };
    }
    client.send(&Request::get(path), &mut answer).await.map_err(|why| why.to_string())?;
    match answer.status.as_u16() {
        200 => Ok(answer.body),
        status => Err(format!("it was answered with {status}")),
    }
}

const LONGEST: Nanos = Nanos::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: &[u8] = include_bytes!("../testdata/tsa-certchain.pem");

    #[test]
    fn what_a_service_says_is_believed_and_told_with_its_fingerprint() {
        let mut trust = ServedTrust::default();
        assert_eq!(trust.note(), None);
        trust.believe(SigstoreService::Timestamp, CHAIN, "http://a/certchain").unwrap();
        let chain = String::from_utf8_lossy(CHAIN).into_owned();
        let chains = serde_json::json!({ "chains": [{ "certificates": [chain] }] });
        trust
            .believe(SigstoreService::Fulcio, chains.to_string().as_bytes(), "http://b/trustBundle")
            .unwrap();
        assert!(trust.root().timestamp.is_some() && trust.root().fulcio.is_some());
        let note = trust.note().unwrap();
        let root = pem::certificates(std::str::from_utf8(CHAIN).unwrap()).unwrap().pop().unwrap();
        for part in ["http://a/certchain", "http://b/trustBundle", &sha256(&root).to_hex(), "nobody else"] {
            assert!(note.contains(part), "{part} is not in {note}");
        }
    }

    #[test]
    fn what_nobody_could_trust_is_refused() {
        let mut trust = ServedTrust::default();
        for (service, body) in [
            (SigstoreService::Fulcio, &b"[]"[..]),
            (SigstoreService::Fulcio, br#"{"chains":[]}"#),
            (SigstoreService::FulcioGrpc, b""),
            (SigstoreService::FulcioGrpc, br#"{"chains":[]}"#),
            (SigstoreService::Rekor, b"no key"),
            (SigstoreService::Rekor, &[0xff]),
            (SigstoreService::Timestamp, b""),
            (SigstoreService::Timestamp, &CHAIN[..900]),
        ] {
            assert!(trust.believe(service, body, "http://a").is_err(), "{service:?} {body:?}");
        }
        assert_eq!(trust.note(), None);
    }
}
