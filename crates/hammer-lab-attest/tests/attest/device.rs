//! Devices, as the recorded ones were made: everything follows from a name and a number.

use ciborium::{Value, cbor};
use hammer_p256::SPKI_PREFIX;
use hammer_tlog::{
    encoding::{base64, from_base64},
    hash::sha256,
};
use p256::ecdsa::{Signature, SigningKey, signature::Signer};

/// A device of a run.
#[derive(Clone)]
pub(crate) struct Device {
    run: String,
    index: u64,
    pub(crate) implementation: [u8; 32],
    pub(crate) instance: Vec<u8>,
    pub(crate) key: SigningKey,
    /// Of the key, as a CoRIM has it.
    pem: String,
    pub(crate) components: Vec<Component>,
}

/// What a device measured.
#[derive(Clone)]
pub(crate) struct Component {
    pub(crate) kind: String,
    pub(crate) version: String,
    pub(crate) measurement: Vec<u8>,
    pub(crate) signer: Vec<u8>,
}

/// The claims of a token, in their order.
pub(crate) type Claims = Vec<(i64, Value)>;

/// The SHA-256 of parts, each with a zero behind it.
pub(crate) fn hash(parts: &[&str]) -> [u8; 32] {
    sha256(parts.iter().flat_map(|part| [part, "\0"]).collect::<String>().as_bytes()).0
}

impl Device {
    pub(crate) fn new(run: &str, index: u64) -> Self {
        let number = &index.to_string();
        let component = |(place, kind): (usize, &str)| Component {
            kind: kind.to_owned(),
            version: format!("{}.{}.0", place + 1, index % 100),
            measurement: hash(&["meas", run, number, &place.to_string()]).to_vec(),
            signer: hash(&["signer", run, &place.to_string()]).to_vec(),
        };
        let key = key(hash(&["iak", run, number]));
        Self {
            run: run.to_owned(),
            index,
            pem: pem(&key),
            key,
            implementation: hash(&["impl", run, number]),
            instance: [&[1], hash(&["inst", run, number]).as_slice()].concat(),
            components: ["BL", "PRoT", "ARoT"].into_iter().enumerate().map(component).collect(),
        }
    }

    fn uuid(&self, purpose: &str) -> Vec<u8> {
        let mut bytes = hash(&[purpose, &self.run, &self.index.to_string()])[..16].to_vec();
        bytes[6] = 0x40 | bytes[6] & 0x0f;
        bytes[8] = 0x80 | bytes[8] & 0x3f;
        bytes
    }

    /// Its CoRIM as v0.0.2502 takes it.
    pub(crate) fn legacy_corim(&self) -> Vec<u8> {
        let reference = |component: &Component| {
            let Component { kind, version, measurement, signer } = component;
            let key = tag(601, map([(1, text(kind)), (4, text(version)), (5, bytes(signer))]));
            map([(0, key), (1, map([(2, digests(measurement))]))])
        };
        let comids = self.comids(600, &reference).map(|comid| bytes(&encode(&tag(506, comid))));
        let profile = text("http://arm.com/psa/iot/1");
        encode(&map([(0, bytes(&self.uuid("corim"))), (1, Value::Array(comids.to_vec())), (3, profile)]))
    }

    /// Its CoRIM as v0.0.2608 takes it.
    pub(crate) fn rim_corim(&self) -> Vec<u8> {
        let reference = |component: &Component| {
            let Component { kind, version, measurement, signer } = component;
            let signers = Value::Array(vec![tag(560, bytes(signer))]);
            let version = map([(0, text(version)), (1, Value::from(16384))]);
            let values = map([(0, version), (2, digests(measurement)), (11, text(kind)), (13, signers)]);
            map([(0, text("psa.software-component")), (1, values)])
        };
        let comids = self.comids(560, &reference).map(|comid| tag(506, bytes(&encode(&comid))));
        let id: String = self.uuid("corim").iter().map(|byte| format!("{byte:02x}")).collect();
        let profile = text("tag:arm.com,2025:psa#1.0.0");
        encode(&tag(501, map([(0, text(&id)), (1, Value::Array(comids.to_vec())), (3, profile)])))
    }

    /// One with reference values, one with the key.
    fn comids(&self, implementation_tag: u64, reference: &dyn Fn(&Component) -> Value) -> [Value; 2] {
        let implementation = tag(implementation_tag, bytes(&self.implementation));
        let class = map([(0, implementation), (1, text("ACME")), (2, text("RoadRunner"))]);
        let measurements = self.components.iter().map(reference).collect();
        let values = Value::Array(vec![map([(0, class.clone())]), Value::Array(measurements)]);
        let environment = map([(0, class), (1, tag(550, bytes(&self.instance)))]);
        let keys = Value::Array(vec![tag(554, text(&self.pem))]);
        let entity = map([
            (0, text("ACME Ltd.")),
            (1, tag(32, text("https://acme.example"))),
            (2, cbor!([0, 1, 2]).unwrap()),
        ]);
        let comid = |purpose, triples| {
            let entities = Value::Array(vec![entity.clone()]);
            map([
                (0, text("en-GB")),
                (1, map([(0, bytes(&self.uuid(purpose)))])),
                (2, entities),
                (4, triples),
            ])
        };
        [
            comid("rv", map([(0, Value::Array(vec![values]))])),
            comid("ta", map([(3, Value::Array(vec![Value::Array(vec![environment, keys])]))])),
        ]
    }

    /// One with this key, whose results repeated these claims.
    pub(crate) fn provisioned_as(claims: &serde_json::Value, pem: &str) -> Self {
        let bytes = |value: &serde_json::Value| from_base64(value.as_str().unwrap()).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let component = |component: &serde_json::Value| Component {
            kind: text(&component["measurement-type"]),
            version: text(&component["version"]),
            measurement: bytes(&component["measurement-value"]),
            signer: bytes(&component["signer-id"]),
        };
        Self {
            implementation: bytes(&claims["psa-implementation-id"]).try_into().unwrap(),
            instance: bytes(&claims["psa-instance-id"]),
            pem: pem.to_owned(),
            components: claims["psa-software-components"].as_array().unwrap().iter().map(component).collect(),
            ..Self::new("recorded", 0)
        }
    }

    /// Its claims by profile 2.
    pub(crate) fn claims(&self, nonce: &[u8]) -> Claims {
        self.claims_at([265, 2394, 2395, 2396, 2397, 2399, 10, 256, 2400], "http://arm.com/psa/2.0.0", nonce)
    }

    /// Its claims by profile 1.
    pub(crate) fn claims_1(&self, nonce: &[u8]) -> Claims {
        let keys = [0, 1, 2, 3, 4, 6, 8, 9, 10].map(|place| -75000 - place);
        self.claims_at(keys, "PSA_IOT_PROFILE_1", nonce)
    }

    fn claims_at(&self, keys: [i64; 9], profile: &str, nonce: &[u8]) -> Claims {
        let boot_seed = hash(&["boot", &self.run, &self.index.to_string()]);
        let component = |component: &Component| {
            let Component { kind, version, measurement, signer } = component;
            map([(1, text(kind)), (2, bytes(measurement)), (4, text(version)), (5, bytes(signer))])
        };
        let values = [
            text(profile),
            Value::from(1),
            Value::from(0x3000),
            bytes(&self.implementation),
            bytes(&boot_seed),
            Value::Array(self.components.iter().map(component).collect()),
            bytes(nonce),
            bytes(&self.instance),
            text("https://psa-verifier.org"),
        ];
        keys.into_iter().zip(values).collect()
    }

    /// A token with these claims.
    pub(crate) fn sign(&self, claims: Claims) -> Vec<u8> {
        let payload = encode(&map(claims));
        encode(&tag(18, sign1(&self.key, encode(&map([(1, Value::from(-7))])), payload)))
    }

    /// A token by profile 2.
    pub(crate) fn token(&self, nonce: &[u8]) -> Vec<u8> {
        self.sign(self.claims(nonce))
    }
}

/// The public half of a key.
fn pem(key: &SigningKey) -> String {
    let point = key.verifying_key().to_sec1_point(false);
    let der = base64(&[SPKI_PREFIX.as_slice(), point.as_bytes()].concat());
    let lines: Vec<&str> = der.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", lines.join("\n"))
}

/// COSE_Sign1 without its tag.
pub(crate) fn sign1(key: &SigningKey, protected: Vec<u8>, payload: Vec<u8>) -> Value {
    let [protected, payload] = [protected, payload].map(Value::Bytes);
    let signed = vec![text("Signature1"), protected.clone(), bytes(&[]), payload.clone()];
    let signature: Signature = key.sign(&encode(&Value::Array(signed)));
    Value::Array(vec![protected, map([]), payload, bytes(&signature.to_bytes())])
}

/// The key whose number is the hash, within what numbers of keys may be.
fn key(hash: [u8; 32]) -> SigningKey {
    // The hash modulo n - 1, and 1 more: what is not below n - 1 is less than twice that.
    let is_below = hash < ORDER_LESS_1;
    let subtrahend = if is_below { [0; 32] } else { ORDER_LESS_1 };
    let mut scalar = [0; 32];
    let mut carry = 1_i16;
    for place in (0..32).rev() {
        let digit = i16::from(hash[place]) - i16::from(subtrahend[place]) + carry;
        scalar[place] = digit.rem_euclid(256) as u8;
        carry = digit.div_euclid(256);
    }
    SigningKey::from_slice(&scalar).unwrap()
}

pub(crate) fn map(entries: impl IntoIterator<Item = (i64, Value)>) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

pub(crate) fn tag(tag: u64, value: Value) -> Value {
    Value::Tag(tag, Box::new(value))
}

pub(crate) fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

pub(crate) fn text(text: &str) -> Value {
    Value::from(text)
}

fn digests(measurement: &[u8]) -> Value {
    Value::Array(vec![Value::Array(vec![Value::from(1), bytes(measurement)])])
}

pub(crate) fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    ciborium::into_writer(value, &mut out).unwrap();
    out
}

/// The order of P-256, less 1.
const ORDER_LESS_1: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa,
    0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x50,
];

#[test]
fn the_devices_are_the_recorded_ones() {
    let device = Device::new("demo", 0);
    assert!(device.legacy_corim() == include_bytes!("../../testdata/devices/dev0-legacy-p2.corim.cbor"));
    assert!(device.rim_corim() == include_bytes!("../../testdata/devices/dev0-rim2026-p2.corim.cbor"));
}
