//! Plans that are right, and files that are right or wrong on purpose.

use crate::plan::{CT_PLAN, PLAN};

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

/// Of the same, and of a fill alone.
pub(crate) const FILL: &str = "\
target:
  lab: { sigstore: {} }
fill: { workload: sign, operations: 5 }
workloads:
  - name: sign
    sigstore_sign: {}
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
pub(crate) const FILES: [(&str, &str); 8] = [
    ("good.yaml", PLAN),
    ("ct.yaml", CT_PLAN),
    ("fill.yaml", FILL),
    ("empty", ""),
    ("garbage.pem", "-----BEGIN CERTIFICATE-----\nno base64!\n-----END CERTIFICATE-----\n"),
    ("words.txt", "just words\n"),
    ("broken.json", "{\"schema\": \"hammer.report/1\", "),
    ("other.json", "{\"a\": 1}\n"),
];
