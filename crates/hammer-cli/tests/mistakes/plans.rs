//! Plans that are right, and files that are right or wrong on purpose.

/// Of a URL where nothing listens.
pub(crate) const HTTP: &str = "\
target:
  url: http://127.0.0.1:9
workloads:
  - name: web
    http: {}
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// Of a log where nothing listens.
pub(crate) const CT: &str = "\
target:
  log:
    submission_url: http://127.0.0.1:9/log
    public_key: MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqG51pjbkmFczWR9zrHs0sIVFt8ErBljJ8NcYFITKMsgMaf6+YjbKxA1OiWXWuLEnKTdx1KB6KqMcaDTzVbZ6Sg==
workloads:
  - name: submit
    ct_submit: {}
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// Of an embedded target of HTTP.
pub(crate) const LAB: &str = "\
target:
  lab: { http: {} }
workloads:
  - name: web
    http: {}
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// Of embedded services of Sigstore.
pub(crate) const SIGSTORE: &str = "\
target:
  lab: { sigstore: {} }
workloads:
  - name: sign
    sigstore_sign: {}
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// Of an embedded verifier.
pub(crate) const ATTEST: &str = "\
target:
  lab: { attest: {} }
workloads:
  - name: verify
    attest_verify: {}
    load: { rate: 10/s }
  - name: provision
    attest_provision: {}
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// Of an embedded signature service.
pub(crate) const PKI: &str = "\
target:
  lab: { pki: {} }
workloads:
  - name: sign
    pki_sign: {}
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// Of an embedded gateway.
pub(crate) const FLOWS: &str = "\
target:
  lab: { gateway: {} }
workloads:
  - name: gateway
    http_flows:
      flows:
        - { name: page, weight: 7, http: { path: /pages/1 } }
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// Of an embedded Trillian.
pub(crate) const TRILLIAN: &str = "\
target:
  lab: { trillian: {} }
workloads:
  - name: queue
    trillian: { mix: { queue-leaf: 1 } }
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// What commands are given.
pub(crate) const FILES: [(&str, &str); 7] = [
    ("good.yaml", HTTP),
    ("ct.yaml", CT),
    ("empty", ""),
    ("garbage.pem", "-----BEGIN CERTIFICATE-----\nno base64!\n-----END CERTIFICATE-----\n"),
    ("words.txt", "just words\n"),
    ("broken.json", "{\"schema\": \"hammer.report/1\", "),
    ("other.json", "{\"a\": 1}\n"),
];
