//! The extensions of leaves and authorities (RFC 5280 section 4.2, RFC 6962 section 3.1).

use crate::der::{
    BIT_STRING, BOOLEAN, Der, Field, IA5_STRING, NULL, OCTET_STRING, UTF8_STRING, context, context_nested,
};
use crate::name::LeafDomain;
use crate::oid;
use crate::profile::{Names, SubjectKey};

pub(crate) fn key_usage_of_leaf(der: &mut Der, subject_key: SubjectKey) {
    // digitalSignature, and keyEncipherment where the key can do it.
    let bits: &[u8] = match subject_key {
        SubjectKey::P256 => &[7, 0x80],
        SubjectKey::Rsa2048 => &[5, 0xa0],
    };
    write(der, oid::KEY_USAGE, true, |der| der.primitive(BIT_STRING, bits));
}

/// keyCertSign and cRLSign.
pub(crate) fn key_usage_of_authority(der: &mut Der) {
    write(der, oid::KEY_USAGE, true, |der| der.primitive(BIT_STRING, &[1, 0x06]));
}

pub(crate) fn extended_key_usage(der: &mut Der, purposes: &[&[u8]]) {
    write(der, oid::EXTENDED_KEY_USAGE, false, |der| {
        der.sequence(|der| purposes.iter().for_each(|purpose| der.oid(purpose)));
    });
}

/// cA FALSE is the default, and a default is not encoded.
pub(crate) fn basic_constraints_of_leaf(der: &mut Der) {
    write(der, oid::BASIC_CONSTRAINTS, true, |der| der.sequence(|_| ()));
}

pub(crate) fn basic_constraints_of_authority(der: &mut Der, path_length: Option<u8>) {
    write(der, oid::BASIC_CONSTRAINTS, true, |der| {
        der.sequence(|der| {
            der.primitive(BOOLEAN, &[0xff]);
            path_length.iter().for_each(|length| der.unsigned(&[*length]));
        });
    });
}

pub(crate) fn subject_key_identifier(der: &mut Der, key_id: &[u8]) {
    write(der, oid::SUBJECT_KEY_IDENTIFIER, false, |der| {
        der.nested(OCTET_STRING, |der| der.field(Field::SubjectKeyId, key_id));
    });
}

pub(crate) fn authority_key_identifier(der: &mut Der, key_id: &[u8]) {
    write(der, oid::AUTHORITY_KEY_IDENTIFIER, false, |der| {
        der.sequence(|der| der.primitive(context(0), key_id));
    });
}

pub(crate) fn subject_alt_name(der: &mut Der, domain: &LeafDomain, names: Names) {
    write(der, oid::SUBJECT_ALT_NAME, false, |der| {
        der.sequence(|der| {
            der.nested(context(2), |der| domain.write(der));
            for number in 1..names.count() {
                der.nested(context(2), |der| {
                    match number {
                        1 => der.raw(b"www."),
                        _ => der.raw(format!("n{number:02}.").as_bytes()),
                    }
                    domain.write(der);
                });
            }
        });
    });
}

/// Where the issuer's OCSP responder and certificate would be.
pub(crate) fn authority_info_access(der: &mut Der, host: &str) {
    write(der, oid::AUTHORITY_INFO_ACCESS, false, |der| {
        der.sequence(|der| {
            for (method, kind, file) in
                [(oid::OCSP, "ocsp", ""), (oid::CA_ISSUERS, "cacerts", "issuing-ca-g1.crt")]
            {
                der.sequence(|der| {
                    der.oid(method);
                    der.primitive(context(6), format!("http://{kind}.{host}/{file}").as_bytes());
                });
            }
        });
    });
}

/// Domain-validated, with the statement and the notice that commercial CAs add.
pub(crate) fn certificate_policies(der: &mut Der, host: &str) {
    write(der, oid::CERTIFICATE_POLICIES, false, |der| {
        der.sequence(|der| {
            der.sequence(|der| {
                der.oid(oid::DOMAIN_VALIDATED);
                der.sequence(|der| {
                    qualifier(der, oid::CPS, |der| {
                        der.primitive(
                            IA5_STRING,
                            format!("https://www.{host}/certification-practice").as_bytes(),
                        );
                    });
                    qualifier(der, oid::USER_NOTICE, |der| {
                        der.sequence(|der| der.primitive(UTF8_STRING, NOTICE.as_bytes()));
                    });
                });
            });
        });
    });
}

pub(crate) fn crl_distribution_points(der: &mut Der, host: &str) {
    write(der, oid::CRL_DISTRIBUTION_POINTS, false, |der| {
        der.sequence(|der| {
            for server in ["crl3", "crl4"] {
                let url = format!("http://{server}.{host}/issuing-ca-g1-partition-0042.crl");
                der.sequence(|der| {
                    der.nested(context_nested(0), |der| {
                        der.nested(context_nested(0), |der| der.primitive(context(6), url.as_bytes()));
                    });
                });
            }
        });
    });
}

/// RFC 6962 section 3.1: critical, its content an ASN.1 NULL.
pub(crate) fn poison(der: &mut Der, critical: bool) {
    write(der, oid::POISON, critical, |der| der.primitive(NULL, &[]));
}

/// So many bytes that mean nothing.
pub(crate) fn padding(der: &mut Der, bytes: usize) {
    write(der, oid::PADDING, false, |der| der.primitive(OCTET_STRING, &vec![0; bytes]));
}

fn qualifier(der: &mut Der, kind: &[u8], value: impl FnOnce(&mut Der)) {
    der.sequence(|der| {
        der.oid(kind);
        value(der);
    });
}

/// One `Extension` whose extnValue holds what `value` writes.
pub(crate) fn write(der: &mut Der, kind: &[u8], critical: bool, value: impl FnOnce(&mut Der)) {
    der.sequence(|der| {
        der.oid(kind);
        if critical {
            der.primitive(BOOLEAN, &[0xff]);
        }
        der.nested(OCTET_STRING, value);
    });
}

const NOTICE: &str =
    "This certificate was made for a load test. Its private key is public; rely on it for nothing.";
