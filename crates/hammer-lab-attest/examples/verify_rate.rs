//! What a verify flow costs the service on one thread: `cargo run --profile dist -p hammer-lab-attest --example verify_rate`. A device is
//! provisioned, and then verified over many connections: a session, its evidence, its end. Prints flows a second and, from the kernel's
//! count, the CPU time of the service's own thread for each of them.

use std::{
    error::Error,
    fs,
    io::{Write, stdout},
};

use bytes::Bytes;
use hammer_lab::{Clock, SystemClock};
use hammer_lab_attest::{AttestLabHandle, AttestLabPlan, Release};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::{
    Response,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, task::JoinSet};

const FLOWS: u64 = 20_000;
const CONNECTIONS: u64 = 32;
/// The nonce that the token was signed for, in base64 for URLs.
const NONCE: &str = "Qxz6-ga04vJI7QnXp7dhsS0dPR9y9kTEMtEwn5qIvBA=";
const CORIM: &[u8] = include_bytes!("../testdata/devices/dev0-legacy-p2.corim.cbor");
const TOKEN: &[u8] = include_bytes!("../testdata/devices/dev0-legacy-p2.token.cbor");
const CORIM_TYPE: &str = r#"application/corim-unsigned+cbor; profile="http://arm.com/psa/iot/1""#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let lab =
        AttestLabHandle::start(AttestLabPlan { release: Release::V2502, ..AttestLabPlan::default() }).await?;
    let address = lab.url.trim_start_matches("http://").to_owned();
    let mut client = Client::connect(&address).await?;
    let submitted = client.post("/endorsement-provisioning/v1/submit", CORIM_TYPE, CORIM).await?;
    client.read(submitted).await?;
    let (clock, cpu_before) = (SystemClock::new(), lab_cpu_ms()?);
    let mut connections = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let client = Client::connect(&address).await?;
        connections.spawn(flows(client, FLOWS / CONNECTIONS));
    }
    let affirmed: u64 = connections.join_all().await.into_iter().sum();
    let (elapsed, cpu_ms) = (clock.elapsed(), lab_cpu_ms()? - cpu_before);
    let rate = affirmed as f64 / elapsed.as_secs_f64();
    let cpu_us = cpu_ms as f64 * 1000.0 / affirmed as f64;
    writeln!(
        stdout(),
        "{affirmed} of {FLOWS} complete at {rate:.0}/s, {cpu_us:.0} us of the service's CPU each"
    )?;
    lab.shutdown().await;
    Ok(())
}

/// How many of so many flows are complete.
async fn flows(mut client: Client, count: u64) -> u64 {
    let mut complete = 0;
    for _ in 0..count {
        let Ok(is_complete) = client.flow().await else { break };
        complete += u64::from(is_complete);
    }
    complete
}

struct Client {
    sender: SendRequest<Full<Bytes>>,
    address: String,
}

impl Client {
    async fn connect(address: &str) -> Result<Self, Box<dyn Error>> {
        let stream = TcpStream::connect(address).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, address: address.to_owned() })
    }

    async fn flow(&mut self) -> Result<bool, hyper::Error> {
        let path = format!("/challenge-response/v1/newSession?nonce={NONCE}");
        let begun = self.post(&path, "", b"").await?;
        let location = begun.headers().get("location").and_then(|location| location.to_str().ok());
        let session = format!("/challenge-response/v1/{}", location.unwrap_or_default());
        self.read(begun).await?;
        let answer = self.post(&session, "application/psa-attestation-token", TOKEN).await?;
        let is_complete = self.read(answer).await?.starts_with(br#"{"status":"complete""#);
        let deleted = self.send("DELETE", &session, "", b"").await?;
        self.read(deleted).await?;
        Ok(is_complete)
    }

    async fn post(
        &mut self,
        path: &str,
        kind: &str,
        body: &'static [u8],
    ) -> Result<Response<Incoming>, hyper::Error> {
        self.send("POST", path, kind, body).await
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        kind: &str,
        body: &'static [u8],
    ) -> Result<Response<Incoming>, hyper::Error> {
        let mut request = Request::new(Full::new(Bytes::from_static(body)));
        *request.method_mut() = method.parse().unwrap_or_default();
        *request.uri_mut() = path.parse().unwrap_or_default();
        for (name, value) in [("host", self.address.as_str()), ("content-type", kind)] {
            if let Some(value) = value.parse().ok().filter(|_| !value.is_empty()) {
                request.headers_mut().insert(name, value);
            }
        }
        self.sender.ready().await?;
        self.sender.send_request(request).await
    }

    async fn read(&self, answer: Response<Incoming>) -> Result<Bytes, hyper::Error> {
        Ok(answer.into_body().collect().await?.to_bytes())
    }
}

/// User and system time of the threads named `lab-attest`, in milliseconds (fields 14 and 15 of proc_pid_stat(5), in ticks of 10 ms).
fn lab_cpu_ms() -> Result<u64, Box<dyn Error>> {
    let mut ticks = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let stat = fs::read_to_string(thread?.path().join("stat"))?;
        let Some((name, fields)) = stat.rsplit_once(") ") else { continue };
        if name.ends_with("(lab-attest") {
            let fields: Vec<&str> = fields.split(' ').collect();
            ticks += fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        }
    }
    Ok(ticks * 10)
}
