//! Every field of every message, which has the number that the service gives it.

use std::fmt::Debug;

use hammer_messages::{
    fulcio::{
        CertificateChain, Configuration, CreateSigningCertificateRequest, Credentials, IssuedCertificate,
        IssuerName, OidcIssuer, RequestedKey, SigningCertificate, SigningCertificateDetachedSct, TrustBundle,
    },
    google::{Status, Timestamp},
    otlp::{
        AggregationTemporality, AnyValue, AttributeValue, ExportMetricsPartialSuccess,
        ExportMetricsServiceRequest, ExportMetricsServiceResponse, Gauge, Histogram, HistogramDataPoint,
        InstrumentationScope, KeyValue, Metric, MetricData, NumberDataPoint, NumberValue, Resource,
        ResourceMetrics, ScopeMetrics, Sum,
    },
    rekor::{
        Checkpoint, CreateEntryRequest, DsseRequestV002, EntrySpec, Envelope, EnvelopeSignature,
        InclusionPromise, InclusionProof, KindVersion, LogId, PublicKeyDetails, RawPublicKey,
        TransparencyLogEntry, Verifier, VerifierKey, X509Certificate,
    },
    trillian::{
        GetConsistencyProofRequest, GetConsistencyProofResponse, GetInclusionProofByHashRequest,
        GetInclusionProofByHashResponse, GetInclusionProofRequest, GetLatestSignedLogRootRequest,
        GetLatestSignedLogRootResponse, GetLeavesByRangeRequest, GetLeavesByRangeResponse, InitLogRequest,
        InitLogResponse, LogLeaf, Proof, QueueLeafRequest, QueueLeafResponse, QueuedLogLeaf, SignedLogRoot,
    },
};
use prost::Message;

/// The message is what stands under this name, in both directions.
#[track_caller]
fn is<M: Message + Default + PartialEq + Debug>(name: &str, message: &M) {
    let expected = hex(name);
    assert_eq!(message.encode_to_vec(), expected, "{name}");
    assert_eq!(&M::decode(&expected[..]).unwrap(), message, "{name}");
}

fn hex(name: &str) -> Vec<u8> {
    let mut lines = include_str!("../../testdata/every-field.txt").lines();
    let digits = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn the_fields_of_fulcio_have_its_numbers() {
    let credentials = Some(Credentials { oidc_identity_token: Some("token".into()) });
    let key = Some(RequestedKey::CertificateSigningRequest(b"request".into()));
    is("csr", &CreateSigningCertificateRequest { credentials, key });
    let chain = |names: &[&str]| CertificateChain {
        certificates: names.iter().map(|&name| name.to_owned()).collect(),
    };
    let detached = SigningCertificateDetachedSct {
        chain: Some(chain(&["leaf", "root"])),
        signed_certificate_timestamp: b"promise".into(),
    };
    let certificate = Some(IssuedCertificate::SignedCertificateDetachedSct(detached));
    is("detached", &SigningCertificate { certificate });
    is("trust-bundle", &TrustBundle { chains: vec![chain(&["a", "b"]), chain(&["c"])] });
    let named = OidcIssuer {
        issuer: Some(IssuerName::IssuerUrl("http://issuer".into())),
        audience: "audience".into(),
        challenge_claim: "email".into(),
        spiffe_trust_domain: "domain".into(),
        issuer_type: "email".into(),
        subject_domain: "subject".into(),
        skip_email_verification: true,
    };
    let wildcard =
        OidcIssuer { issuer: Some(IssuerName::WildcardIssuerUrl("http://*".into())), ..Default::default() };
    is("configuration", &Configuration { issuers: vec![named, wildcard] });
}

#[test]
fn the_fields_of_rekor_have_its_numbers() {
    let verifier = |verifier, key_details: PublicKeyDetails| Verifier {
        verifier: Some(verifier),
        key_details: key_details.into(),
    };
    let key = VerifierKey::PublicKey(RawPublicKey { raw_bytes: b"key".into() });
    let certificate = VerifierKey::X509Certificate(X509Certificate { raw_bytes: b"certificate".into() });
    let envelope = Envelope {
        payload: b"payload".into(),
        payload_type: "type".into(),
        signatures: vec![
            EnvelopeSignature { sig: b"one".into(), keyid: "id".into() },
            EnvelopeSignature { sig: b"two".into(), keyid: String::new() },
        ],
    };
    let dsse = DsseRequestV002 {
        envelope: Some(envelope),
        verifiers: vec![
            verifier(key, PublicKeyDetails::PkixEd25519),
            verifier(certificate, PublicKeyDetails::MlDsa44),
        ],
    };
    is("dsse", &CreateEntryRequest { spec: Some(EntrySpec::DsseRequestV002(dsse)) });
    let entry = TransparencyLogEntry {
        log_index: 1,
        log_id: Some(LogId { key_id: b"id".into() }),
        kind_version: Some(KindVersion { kind: "kind".into(), version: "0.0.1".into() }),
        integrated_time: 1_795_243_690,
        inclusion_promise: Some(InclusionPromise { signed_entry_timestamp: b"set".into() }),
        inclusion_proof: Some(InclusionProof {
            log_index: 2,
            root_hash: b"root".into(),
            tree_size: 3,
            hashes: vec![b"left".into(), b"right".into()],
            checkpoint: Some(Checkpoint { envelope: "note".into() }),
        }),
        canonicalized_body: b"body".into(),
    };
    is("entry", &entry);
}

#[test]
fn the_leaves_of_trillian_have_its_numbers() {
    is("queue-leaf-request", &QueueLeafRequest { log_id: 5, leaf: Some(leaf()) });
    let status = Some(Status { code: 6, message: "there".into() });
    let queued_leaf = Some(QueuedLogLeaf { leaf: Some(leaf()), status });
    is("queue-leaf-response", &QueueLeafResponse { queued_leaf });
    is("range-request", &GetLeavesByRangeRequest { log_id: 5, start_index: 6, count: 7 });
    let leaves = vec![leaf(), leaf()];
    is("range-response", &GetLeavesByRangeResponse { leaves, signed_log_root: root() });
    is("init-request", &InitLogRequest { log_id: 5 });
    is("init-response", &InitLogResponse { created: root() });
}

#[test]
fn the_proofs_of_trillian_have_its_numbers() {
    is("inclusion-proof-request", &GetInclusionProofRequest { log_id: 5, leaf_index: 6, tree_size: 7 });
    let by_hash = GetInclusionProofByHashRequest {
        log_id: 5,
        leaf_hash: b"hash".into(),
        tree_size: 7,
        order_by_sequence: true,
    };
    is("by-hash-request", &by_hash);
    let paths = vec![proof(), proof()];
    is("by-hash-response", &GetInclusionProofByHashResponse { proof: paths, signed_log_root: root() });
    let sizes = GetConsistencyProofRequest { log_id: 5, first_tree_size: 6, second_tree_size: 7 };
    is("consistency-request", &sizes);
    let consistency = GetConsistencyProofResponse { proof: Some(proof()), signed_log_root: root() };
    is("consistency-response", &consistency);
    is("latest-root-request", &GetLatestSignedLogRootRequest { log_id: 5, first_tree_size: 6 });
    let latest = GetLatestSignedLogRootResponse { signed_log_root: root(), proof: Some(proof()) };
    is("latest-root-response", &latest);
}

#[test]
fn the_fields_of_otlp_have_its_numbers() {
    let point = |value| NumberDataPoint {
        start_time_unix_nano: 11,
        time_unix_nano: 12,
        value: Some(value),
        attributes: vec![KeyValue::text("fate", "accepted")],
    };
    let times = HistogramDataPoint {
        start_time_unix_nano: 11,
        time_unix_nano: 12,
        count: 6,
        sum: Some(4.5),
        bucket_counts: vec![1, 2, 3],
        explicit_bounds: vec![0.5, 2.5],
        attributes: vec![KeyValue::text("kind", "step")],
    };
    let metric = |(name, description, unit): (&str, &str, &str), data| Metric {
        name: name.into(),
        description: description.into(),
        unit: unit.into(),
        data: Some(data),
    };
    let sum = Sum {
        data_points: vec![point(NumberValue::AsInt(40))],
        aggregation_temporality: AggregationTemporality::Cumulative.into(),
        is_monotonic: true,
    };
    let histogram =
        Histogram { data_points: vec![times], aggregation_temporality: AggregationTemporality::Delta.into() };
    let gauge = Gauge { data_points: vec![point(NumberValue::AsDouble(1.5))] };
    let metrics = vec![
        metric(("depth", "how deep", "m"), MetricData::Gauge(gauge)),
        metric(("ended", "what ended", "1"), MetricData::Sum(sum)),
        metric(("times", "how long", "s"), MetricData::Histogram(histogram)),
    ];
    let seed =
        KeyValue { key: "seed".into(), value: Some(AnyValue { value: Some(AttributeValue::Int(-7)) }) };
    let attributes = vec![KeyValue::text("service.name", "hammer"), seed];
    let scope = Some(InstrumentationScope { name: "hammer".into(), version: "1.2.3".into() });
    let of_resource = ResourceMetrics {
        resource: Some(Resource { attributes }),
        scope_metrics: vec![ScopeMetrics { scope, metrics }],
    };
    is("otlp-request", &ExportMetricsServiceRequest { resource_metrics: vec![of_resource] });
    let partial_success =
        Some(ExportMetricsPartialSuccess { rejected_data_points: 7, error_message: "too many".into() });
    is("otlp-response", &ExportMetricsServiceResponse { partial_success });
}

fn leaf() -> LogLeaf {
    LogLeaf {
        merkle_leaf_hash: b"merkle".into(),
        leaf_value: b"value".into(),
        extra_data: b"extra".into(),
        leaf_index: 9,
        leaf_identity_hash: b"identity".into(),
        queue_timestamp: Some(Timestamp { seconds: 1_795_243_852, nanos: 752_994_348 }),
        integrate_timestamp: Some(Timestamp { seconds: 1, nanos: 0 }),
    }
}

fn proof() -> Proof {
    Proof { leaf_index: 7, hashes: vec![b"left".into(), b"right".into()] }
}

fn root() -> Option<SignedLogRoot> {
    Some(SignedLogRoot { log_root: b"root".into() })
}
