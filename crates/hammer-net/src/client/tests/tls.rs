//! TLS: versions, trust and identity.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use hammer_measure::recorder::{Interval, Recorder};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

use super::server::{Server, Speaks, redirect, reply};
use super::*;

/// A CA whose root, and a certificate of which for a client, lie in a folder.
struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("root.pem"), issuer.pem()).unwrap();
        let (certificate, key) = issue(&issuer, "client.example");
        fs::write(folder.path().join("client.pem"), certificate.pem()).unwrap();
        fs::write(folder.path().join("client.key"), key.serialize_pem()).unwrap();
        Self { folder, issuer }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A server whose certificate is for `name`, which offers `alpn`, and may ask for a certificate of this CA.
    async fn server(&self, name: &str, alpn: &[&str], wants_certificate: bool) -> Server {
        Server::ok(self.speaks(name, alpn, wants_certificate)).await
    }

    fn speaks(&self, name: &str, alpn: &[&str], wants_certificate: bool) -> Speaks {
        self.speaks_as(&issue(&self.issuer, name), alpn, wants_certificate)
    }

    fn speaks_as(
        &self,
        (certificate, key): &(rcgen::Certificate, KeyPair),
        alpn: &[&str],
        wants_certificate: bool,
    ) -> Speaks {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if wants_certificate {
            let mut roots = RootCertStore::empty();
            roots.add(self.issuer.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        Speaks::Tls(TlsAcceptor::from(Arc::new(config)))
    }

    /// What the plan's own server answers, with a client certificate and a server name, where it redirects to `location`.
    async fn redirected(&self, location: String) -> Result<Answer, Failure> {
        let speaks = self.speaks("log.example", BOTH, true);
        let server = Server::start(speaks, move |request| {
            let answer = match request.uri().path() {
                "/there" => reply(200, "there"),
                _ => redirect(&location),
            };
            Box::pin(async move { answer })
        })
        .await;
        let mut config = self.trusting(&server);
        config.redirects = 1;
        config.tls.server_name = Some("log.example".to_owned());
        config.tls.certificate = Some(self.file("client.pem"));
        config.tls.key = Some(self.file("client.key"));
        get(&client(config), "/").await
    }

    fn trusting(&self, server: &Server) -> ClientConfig {
        let mut config = config(&format!("https://{}", server.addr));
        config.tls.roots = vec![self.file("root.pem")];
        config
    }
}

fn issue(issuer: &CertifiedIssuer<'static, KeyPair>, name: &str) -> (rcgen::Certificate, KeyPair) {
    signed(issuer, &CertificateParams::new([name.to_owned()]).unwrap())
}

/// Why the server at a client's only endpoint gives no answer.
async fn failure_of(client: &Client) -> Failure {
    get(client, "/").await.map(|answer| answer.status).unwrap_err()
}

fn signed(
    issuer: &CertifiedIssuer<'static, KeyPair>,
    params: &CertificateParams,
) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, issuer).unwrap(), key)
}

const BOTH: &[&str] = &["h2", "http/1.1"];

#[test]
fn alpn_decides_which_version_is_spoken() {
    run(async {
        let authority = Authority::new();
        for (offered, policy, spoken) in [
            (BOTH, HttpVersion::Negotiated, http::Version::HTTP_2),
            (&["http/1.1"], HttpVersion::Negotiated, http::Version::HTTP_11),
            (&[], HttpVersion::Negotiated, http::Version::HTTP_11),
            (BOTH, HttpVersion::Http1, http::Version::HTTP_11),
            (BOTH, HttpVersion::Http2, http::Version::HTTP_2),
        ] {
            let server = authority.server("127.0.0.1", offered, false).await;
            let mut config = authority.trusting(&server);
            config.version = policy;
            let client = client(config);
            let first = get(&client, "/").await.unwrap();
            let second = get(&client, "/").await.unwrap();
            assert_eq!((first.version, second.version), (spoken, spoken), "{offered:?} {policy:?}");
            assert!(first.wire.connected < first.wire.tls_done && first.wire.tls_done <= first.wire.sent);
            assert_eq!((server.connections(), second.wire.tls_done), (1, None));
            assert!(!second.resent && !second.redialled);
        }
    });
}

#[test]
fn a_server_without_http2_is_refused_when_http2_is_forced() {
    run(async {
        let authority = Authority::new();
        for offered in [&["http/1.1"] as &[&str], &[]] {
            let server = authority.server("127.0.0.1", offered, false).await;
            let mut config = authority.trusting(&server);
            config.version = HttpVersion::Http2;
            assert_eq!(kind_of_failure(&client(config)).await, FailureKind::Tls);
        }
    });
}

#[test]
fn bytes_of_the_handshake_are_counted() {
    run(async {
        let authority = Authority::new();
        let server = authority.server("127.0.0.1", &["http/1.1"], false).await;
        let client = client(authority.trusting(&server));
        let (first, second) = (get(&client, "/").await.unwrap(), get(&client, "/").await.unwrap());
        assert!(first.bytes_in > second.bytes_in + 500, "{} {}", first.bytes_in, second.bytes_in);
        assert!(second.bytes_in > 60 && second.bytes_out > 60);
    });
}

#[test]
fn a_server_that_nobody_vouches_for_is_refused_unless_that_is_asked_for() {
    run(async {
        let authority = Authority::new();
        let server = authority.server("127.0.0.1", BOTH, false).await;
        let other = Authority::new();
        let mut config = other.trusting(&server);
        let failure = get(&client(config.clone()), "/").await.map(|answer| answer.status).unwrap_err();
        assert_eq!(failure.kind, FailureKind::UntrustedCertificate);
        // Both authorities have the name that rcgen gives to all.
        let why = "its certificate was signed by another key than that of the authority of its name that is trusted";
        assert_eq!(failure.to_string(), format!("agree on TLS with {}: {why}", server.addr));
        config.tls.insecure = true;
        assert_eq!(get(&client(config), "/").await.unwrap().status, 200);
    });
}

#[test]
fn the_name_in_the_certificate_must_be_the_one_asked_for() {
    run(async {
        let authority = Authority::new();
        let server = authority.server("log.example", BOTH, false).await;
        let mut config = authority.trusting(&server);
        let failure = failure_of(&client(config.clone())).await;
        assert_eq!(failure.kind, FailureKind::CertificateOfAnotherName);
        let why = "its certificate is for log.example, and not for 127.0.0.1";
        assert_eq!(failure.to_string(), format!("agree on TLS with {}: {why}", server.addr));
        config.tls.server_name = Some("log.example".to_owned());
        assert_eq!(get(&client(config), "/").await.unwrap().status, 200);
    });
}

#[test]
fn a_certificate_that_has_expired_or_is_not_valid_yet_is_told_as_that() {
    run(async {
        let authority = Authority::new();
        for (first, last, why) in [
            (1990, 2000, "its certificate expired at 2000-01-01T00:00:00Z"),
            (4000, 4001, "its certificate is not valid before 4000-01-01T00:00:00Z"),
        ] {
            let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
            params.not_before = rcgen::date_time_ymd(first, 1, 1);
            params.not_after = rcgen::date_time_ymd(last, 1, 1);
            let speaks = authority.speaks_as(&signed(&authority.issuer, &params), BOTH, false);
            let server = Server::ok(speaks).await;
            let failure = failure_of(&client(authority.trusting(&server))).await;
            assert_eq!(failure.kind, FailureKind::CertificateOutOfTime, "{first}");
            assert_eq!(failure.to_string(), format!("agree on TLS with {}: {why}", server.addr));
        }
    });
}

#[test]
fn a_client_certificate_opens_what_is_closed_without_one() {
    run(async {
        let authority = Authority::new();
        for offered in [&["h2"], &["http/1.1"]] {
            let server = authority.server("127.0.0.1", offered, true).await;
            let mut config = authority.trusting(&server);
            let failure = failure_of(&client(config.clone())).await;
            assert_eq!(failure.kind, FailureKind::Tls, "{offered:?} {failure}");
            let why = "it wants a certificate of the client, which goes into tls.certificate";
            assert!(failure.to_string().contains(why), "{offered:?} {failure}");
            config.tls.certificate = Some(authority.file("client.pem"));
            config.tls.key = Some(authority.file("client.key"));
            assert_eq!(get(&client(config.clone()), "/").await.unwrap().status, 200);

            let of_tests = fs::read_to_string(authority.file("client.key")).unwrap();
            fs::write(authority.file("test.key"), of_tests.replace("PRIVATE KEY", "TEST PRIVATE KEY"))
                .unwrap();
            config.tls.key = Some(authority.file("test.key"));
            assert_eq!(get(&client(config), "/").await.unwrap().status, 200);
        }
    });
}

#[test]
fn another_origin_sees_no_client_certificate_and_must_have_its_own_name() {
    run(async {
        let authority = Authority::new();
        let here = authority.redirected("/there".to_owned()).await.unwrap();
        assert_eq!((here.status.as_u16(), here.endpoint), (200, Some(0)));

        let other = authority.server("127.0.0.1", BOTH, false).await;
        let there = authority.redirected(format!("https://{}/", other.addr)).await.unwrap();
        assert_eq!((there.status.as_u16(), there.endpoint), (200, None));

        for (name, wants_certificate, kind) in [
            ("log.example", false, FailureKind::CertificateOfAnotherName),
            ("127.0.0.1", true, FailureKind::Tls),
        ] {
            let other = authority.server(name, BOTH, wants_certificate).await;
            let refused = authority.redirected(format!("https://{}/", other.addr)).await.unwrap_err();
            let seen = (other.connections(), other.requests());
            assert_eq!((refused.kind, seen), (kind, (1, 0)), "{name}: {refused}");
        }
    });
}

#[test]
fn a_plain_server_is_no_tls_server() {
    run(async {
        for speaks in [Speaks::Http1, Speaks::Http2 { streams: 1 }] {
            let server = Server::ok(speaks).await;
            let mut config = config(&format!("https://{}", server.addr));
            config.tls.insecure = true;
            let failure = get(&client(config), "/").await.map(|answer| answer.status).unwrap_err();
            assert_eq!(failure.kind.name(), "server does not speak tls", "{failure}");
            assert_eq!(failure.kind.outcome(), Outcome::Unreachable);
            let told = format!("agree on TLS with {}: the server does not speak TLS there", server.addr);
            assert_eq!(failure.to_string(), told);
        }
    });
}

#[test]
fn a_server_that_resets_in_the_handshake_is_told_as_that() {
    run(async {
        let server = Server::raw(|_, _, tcp| {
            Box::pin(async move {
                // What is closed with bytes unread is reset (RFC 9293 section 3.6.1).
                tcp.readable().await.unwrap();
            })
        })
        .await;
        let mut config = config(&format!("https://{}", server.addr));
        config.tls.insecure = true;
        let failure = get(&client(config), "/").await.map(|answer| answer.status).unwrap_err();
        assert_eq!(failure.kind.name(), "reset in tls handshake", "{failure}");
        assert_eq!(failure.kind.outcome(), Outcome::Unreachable);
    });
}

/// A server of the version by that name of ALPN that reads a request of each connection, and answers it by the bytes that `answered` makes of
/// its session, in one write.
async fn answering(
    authority: &Authority,
    version: &'static str,
    answered: impl Fn(&mut ServerConnection) -> Vec<u8> + Clone + 'static,
) -> Server {
    let Speaks::Tls(acceptor) = authority.speaks("127.0.0.1", &[version], false) else { unreachable!() };
    Server::raw(move |_, _, tcp| {
        let (acceptor, answered) = (acceptor.clone(), answered.clone());
        Box::pin(async move {
            let mut tls = acceptor.accept(tcp).await.unwrap();
            let mut request = Vec::new();
            if version == "h2" {
                tls.write_all(&frame(4, 0, 0, b"")).await.unwrap();
                tls.flush().await.unwrap();
            }
            while request.is_empty() || version == "h2" && !has_headers(&request) {
                assert!(tls.read_buf(&mut request).await.unwrap() > 0);
            }
            let (tcp, session) = tls.get_mut();
            let bytes = answered(session);
            tcp.write_all(&bytes).await.unwrap();
            // The kernel of the client knows of no end: it waits for one of the client's own (RFC 8446 section 6.1).
            while tcp.read(&mut [0; 4096]).await.is_ok_and(|length| length > 0) {}
        })
    })
    .await
}

/// A frame of HTTP/2 (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

/// Whether a whole frame of headers is in what a client of HTTP/2 sent.
fn has_headers(sent: &[u8]) -> bool {
    let mut frames = sent.get(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()..).unwrap_or_default();
    while let [high, middle, low, kind, _, _, _, _, _, rest @ ..] = frames {
        let length = u32::from_be_bytes([0, *high, *middle, *low]) as usize;
        let Some(behind) = rest.get(length..) else { return false };
        if *kind == 1 {
            return true;
        }
        frames = behind;
    }
    false
}

/// The records of an answer of that length, of whose body so many bytes are there.
fn sealed(session: &mut ServerConnection, length: usize, there: usize) -> Vec<u8> {
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{}", "k".repeat(there));
    session.writer().write_all(answer.as_bytes()).unwrap();
    written(session)
}

fn written(session: &mut ServerConnection) -> Vec<u8> {
    let mut records = Vec::new();
    while session.wants_write() {
        session.write_tls(&mut records).unwrap();
    }
    records
}

#[test]
fn a_close_that_came_with_the_last_answer_is_known_before_anything_is_written() {
    run(async {
        let authority = Authority::new();
        let server = answering(&authority, "http/1.1", |session| {
            let answer = sealed(session, 2, 2);
            session.send_close_notify();
            [answer, written(session)].concat()
        })
        .await;
        let client = client(authority.trusting(&server));
        for connections in 1..=3 {
            assert_eq!(get(&client, "/").await.unwrap().status, 200);
            assert_eq!(server.connections(), connections);
        }
    });
}

/// Each of two answers is accepted where all of it came ahead of a broken record, and else truncated; no connection serves twice.
async fn expect_read(authority: &Authority, server: &Server, is_whole: bool) {
    let client = client(authority.trusting(server));
    for connections in 1..=2 {
        match get(&client, "/").await {
            Ok(answer) => assert!(is_whole && answer.status == 200),
            Err(failure) => {
                assert!(!is_whole && failure.kind == FailureKind::Truncated, "{failure}");
                assert!(failure.detail.contains("cannot be decrypted"), "{failure}");
            }
        }
        assert_eq!(server.connections(), connections);
    }
}

#[test]
fn what_came_ahead_of_a_broken_record_is_read() {
    run(async {
        let authority = Authority::new();
        // What a first read of the socket takes, and what is more than that.
        for (there, length) in [(2, 2), (1, 2), (4096 - 100, 4096 - 100), (12_000, 12_000)] {
            let server = answering(&authority, "http/1.1", move |session| {
                [sealed(session, length, there).as_slice(), UNSEALED].concat()
            })
            .await;
            expect_read(&authority, &server, there == length).await;
        }
    });
}

/// A record that nobody sealed (RFC 8446 section 5.2).
const UNSEALED: &[u8] = &[23, 3, 3, 0, 16, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7];

#[test]
fn what_came_ahead_of_a_broken_record_is_read_over_http2_too() {
    run(async {
        let authority = Authority::new();
        for is_whole in [true, false] {
            let server = answering(&authority, "h2", move |session| {
                // `:status: 200` (RFC 7541 appendix A), and a body with or without its end.
                let answer = [frame(1, 4, 1, &[0x88]), frame(0, u8::from(is_whole), 1, b"kk")].concat();
                session.writer().write_all(&answer).unwrap();
                [written(session).as_slice(), UNSEALED].concat()
            })
            .await;
            expect_read(&authority, &server, is_whole).await;
        }
    });
}

#[test]
fn a_server_that_closes_in_the_handshake_without_a_word_is_told_as_that() {
    run(async {
        let server = Server::raw(|_, _, mut tcp| {
            Box::pin(async move {
                let _ = tokio::io::AsyncReadExt::read(&mut tcp, &mut [0; 4096]).await;
            })
        })
        .await;
        let mut config = config(&format!("https://{}", server.addr));
        config.tls.insecure = true;
        let failure = get(&client(config), "/").await.map(|answer| answer.status).unwrap_err();
        assert_eq!(failure.kind.name(), "closed in tls handshake", "{failure}");
        let said = "the server closed the connection in the handshake: it may not speak TLS there";
        assert_eq!(failure.to_string(), format!("agree on TLS with {}: {said}", server.addr));
    });
}

#[test]
fn a_tls_server_is_no_plain_server() {
    run(async {
        let authority = Authority::new();
        let server = authority.server("127.0.0.1", BOTH, false).await;
        let config = config(&format!("http://{}", server.addr));
        let failure = get(&client(config), "/").await.map(|answer| answer.status).unwrap_err();
        assert_eq!(failure.kind.name(), "server speaks tls", "{failure}");
        assert_eq!(failure.kind.outcome(), Outcome::Malformed);
        assert!(
            failure.to_string().ends_with("its bytes are of TLS: the server speaks it there"),
            "{failure}"
        );
    });
}

#[test]
fn a_file_that_is_not_what_it_should_be_is_named() {
    let authority = Authority::new();
    let base = config("https://127.0.0.1:1");
    let refusal = |change: &dyn Fn(&mut crate::TlsConfig)| {
        let mut config = base.clone();
        change(&mut config.tls);
        Client::new(config, HandClock::new(), ConnectionLog::default())
            .err()
            .expect("it is refused")
            .to_string()
    };
    let (root, client, key) =
        (authority.file("root.pem"), authority.file("client.pem"), authority.file("client.key"));
    let gone = authority.file("gone.pem");
    assert!(refusal(&|tls| tls.roots = vec![gone.clone()]).contains("gone.pem"));
    assert!(refusal(&|tls| tls.roots = vec![key.clone()]).contains("client.key: there is none in it"));
    assert!(refusal(&|tls| tls.certificate = Some(client.clone())).ends_with("its key is not given"));
    let swapped = refusal(&|tls| {
        tls.certificate = Some(root.clone());
        tls.key = Some(key.clone());
    });
    assert!(swapped.contains("root.pem"), "{swapped}");
    let no_key = refusal(&|tls| {
        tls.certificate = Some(client.clone());
        tls.key = Some(root.clone());
    });
    assert!(no_key.contains("read a key from") && no_key.contains("root.pem"), "{no_key}");
}

#[test]
fn whoever_refuses_has_the_connection_in_its_count() {
    run(async {
        let authority = Authority::new();
        // Refused behind the handshake (TLS 1.3, for want of a certificate), in it (its name), and for what it chose (no h2).
        for (name, alpn, wants_certificate, expected) in [
            ("127.0.0.1", &["http/1.1"], true, (1, 0, 1)),
            ("127.0.0.1", &["h2"], true, (1, 0, 1)),
            ("log.example", &["http/1.1"], false, (0, 1, 0)),
            ("127.0.0.1", &["other"], false, (0, 1, 0)),
        ] {
            let server = authority.server(name, alpn, wants_certificate).await;
            let mut config = authority.trusting(&server);
            if alpn == &["h2"] || alpn == &["other"] {
                config.version = HttpVersion::Http2;
            }
            let mut recorder = Recorder::new(1);
            let log = recorder.connections("one");
            let client = Client::new(config, HandClock::new(), log).unwrap();
            let failure = get(&client, "/").await.map(|answer| answer.status).unwrap_err();
            let is_named = name == "127.0.0.1";
            let kind = if is_named { FailureKind::Tls } else { FailureKind::CertificateOfAnotherName };
            assert_eq!(failure.kind, kind, "{name} {alpn:?} {failure}");
            let counts = recorder.swap(Nanos(1), Interval::with_series(1)).connections[0].record.counts;
            let found = (counts.tls_handshakes, counts.failed_handshakes, counts.closed);
            assert_eq!(found, expected, "{name} {alpn:?} {counts:?}");
        }
    });
}
