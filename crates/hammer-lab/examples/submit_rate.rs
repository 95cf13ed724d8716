//! How many submissions a second the log takes on one thread: `cargo run --release -p hammer-lab --example submit_rate`.
//! Prints submissions a second and, from the kernel's count, the CPU time of the log's own thread for each of them.

use std::{
    error::Error,
    fs,
    io::{Write, stdout},
};

use bytes::Bytes;
use hammer_lab::{Clock, CtLabHandle, CtLabPlan, LogConfig, SystemClock, ct::Flavour};
use hammer_tlog::ct::rfc6962::AddChainRequest;
use hammer_values::TimeSpan;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SerialNumber};
use tokio::{net::TcpStream, task::JoinSet};

const SUBMISSIONS: u64 = 30_000;
const CONNECTIONS: u64 = 128;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (root, bodies) = bodies()?;
    let folder = tempfile::tempdir()?;
    let storages =
        [("memory", Flavour::StaticCt, None), ("folder", Flavour::StaticCt, Some(folder.path().into()))];
    for (name, flavour, storage_dir) in storages.into_iter().chain([("memory", Flavour::Rfc6962, None)]) {
        write!(stdout(), "{flavour:?} in {name}: ")?;
        measure(CtLabPlan { flavour, storage_dir, ..CtLabPlan::default() }, &root, &bodies).await?;
    }
    Ok(())
}

async fn measure(plan: CtLabPlan, root: &[u8], bodies: &[Bytes]) -> Result<(), Box<dyn Error>> {
    let plan = CtLabPlan {
        batch_max_age: TimeSpan::from_millis(5),
        checkpoint_interval: TimeSpan::from_millis(100),
        enable_publication_awaiter: false,
        ..plan
    };
    let mut config = LogConfig::from_plan(plan)?;
    config.add_root_der(root);
    let lab = CtLabHandle::start(config).await?;
    let (clock, cpu_before) = (SystemClock::new(), lab_cpu_ms()?);
    let mut connections = JoinSet::new();
    for part in bodies.chunks(bodies.len().div_ceil(CONNECTIONS as usize)) {
        connections.spawn(send(lab.url.clone(), part.to_vec()));
    }
    let answered: u64 = connections.join_all().await.into_iter().sum();
    let (elapsed, cpu_ms) = (clock.elapsed(), lab_cpu_ms()? - cpu_before);
    let rate = answered as f64 / elapsed.as_secs_f64();
    let cpu_us = cpu_ms as f64 * 1000.0 / answered as f64;
    writeln!(stdout(), "{answered} of {SUBMISSIONS} at {rate:.0}/s, {cpu_us:.0} us of the log's CPU each")?;
    lab.shutdown().await;
    Ok(())
}

async fn send(url: String, bodies: Vec<Bytes>) -> u64 {
    let address = url.trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
    let Ok(stream) = TcpStream::connect(&address).await else { return 0 };
    let Ok((mut sender, connection)) = http1::handshake(TokioIo::new(stream)).await else { return 0 };
    tokio::spawn(connection);
    let mut accepted = 0;
    for body in bodies {
        let request = Request::post("/lab/ct/v1/add-chain").header("host", &address).body(Full::new(body));
        let Ok(request) = request else { return accepted };
        let Ok(answer) = sender.send_request(request).await else { return accepted };
        accepted += u64::from(answer.status() == 200 && answer.into_body().collect().await.is_ok());
    }
    accepted
}

fn bodies() -> Result<(Vec<u8>, Vec<Bytes>), rcgen::Error> {
    let (root_key, key, subject) = (KeyPair::generate()?, KeyPair::generate()?, KeyPair::generate()?);
    let root_params = authority("Root")?;
    let root = root_params.self_signed(&root_key)?.der().to_vec();
    let params = authority("Intermediate")?;
    let intermediate = params.signed_by(&key, &Issuer::new(root_params, root_key))?.der().to_vec();
    let issuer = Issuer::new(params, key);
    let bodies = (0..SUBMISSIONS).map(|seq| {
        let mut params = CertificateParams::new([format!("{seq}.example"), format!("www.{seq}.example")])?;
        params.serial_number = Some(SerialNumber::from_slice(&seq.to_be_bytes()));
        let leaf = params.signed_by(&subject, &issuer)?;
        let mut body = Vec::new();
        AddChainRequest::write(&mut body, &[leaf.der().as_ref(), &intermediate]);
        Ok(Bytes::from(body))
    });
    Ok((root, bodies.collect::<Result<_, rcgen::Error>>()?))
}

fn authority(name: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new([])?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Ok(params)
}

/// User and system time of the threads named `lab-ct`, in milliseconds (fields 14 and 15 of proc_pid_stat(5), in ticks
/// of 10 ms).
fn lab_cpu_ms() -> Result<u64, Box<dyn Error>> {
    let mut ticks = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let stat = fs::read_to_string(thread?.path().join("stat"))?;
        let Some((name, fields)) = stat.rsplit_once(") ") else { continue };
        if name.ends_with("(lab-ct") {
            let fields: Vec<&str> = fields.split(' ').collect();
            ticks += fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        }
    }
    Ok(ticks * 10)
}
