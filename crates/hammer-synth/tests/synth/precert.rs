use hammer_synth::{Algorithm, Kind, Minted, Profile};
use ring::digest::{SHA256, digest};
use x509_cert::Certificate;
use x509_cert::der::asn1::{Any, ContextSpecific};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode, Encode, Tag, TagMode, TagNumber};
use x509_cert::ext::Extension;

use crate::{mint, minter};

const POISON: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.11129.2.4.3");
const AUTHORITY_KEY_IDENTIFIER: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.35");
const EXTENDED_KEY_USAGE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37");

fn certificates(minted: &Minted) -> Vec<Certificate> {
    minted.certificates().map(|der| Certificate::from_der(der).unwrap()).collect()
}

fn extension(certificate: &Certificate, kind: ObjectIdentifier) -> Option<&Extension> {
    certificate.tbs_certificate().extensions().unwrap().iter().find(|one| one.extn_id == kind)
}

/// RFC 6962 section 3.2, by another encoder: no poison, and issuer and authority key identifier of the signer's issuer
/// where a Precertificate Signing Certificate signed.
fn rebuilt(precert: &Certificate, signing: Option<&Certificate>) -> Vec<u8> {
    let tbs = precert.tbs_certificate();
    let extensions: Vec<Extension> = tbs
        .extensions()
        .unwrap()
        .iter()
        .filter(|one| one.extn_id != POISON)
        .map(|one| match signing {
            Some(signing) if one.extn_id == AUTHORITY_KEY_IDENTIFIER => {
                extension(signing, AUTHORITY_KEY_IDENTIFIER).unwrap().clone()
            }
            _ => one.clone(),
        })
        .collect();
    let explicit = |number, value: Any| ContextSpecific {
        tag_number: TagNumber(number),
        tag_mode: TagMode::Explicit,
        value,
    };
    let issuer = signing.map_or(tbs.issuer(), |signing| signing.tbs_certificate().issuer());
    let content = [
        explicit(0, Any::new(Tag::Integer, [2]).unwrap()).to_der().unwrap(),
        tbs.serial_number().to_der().unwrap(),
        tbs.signature().to_der().unwrap(),
        issuer.to_der().unwrap(),
        tbs.validity().to_der().unwrap(),
        tbs.subject().to_der().unwrap(),
        tbs.subject_public_key_info().to_der().unwrap(),
        explicit(3, Any::encode_from(&extensions).unwrap()).to_der().unwrap(),
    ];
    Any::new(Tag::Sequence, content.concat()).unwrap().to_der().unwrap()
}

#[test]
fn the_tbs_of_a_precert_is_the_certificate_without_its_poison() {
    let minter = minter(1, Algorithm::P256, Profile::DV);
    let (mut direct, mut by_signing_certificate) = (0, 0);
    for seq in 0..200 {
        let minted = mint(&minter, seq);
        if minted.kind() != Kind::Precert {
            continue;
        }
        let chain = certificates(&minted);
        let poison = extension(&chain[0], POISON).unwrap();
        assert!(poison.critical);
        assert_eq!(poison.extn_value.as_bytes(), [5, 0]);
        let signing = extension(&chain[1], EXTENDED_KEY_USAGE)
            .is_some_and(|usage| usage.extn_value.as_bytes() == PRECERT_SIGNING_USAGE);
        let issuer = &chain[1 + usize::from(signing)];
        assert_eq!(minted.tbs(), rebuilt(&chain[0], signing.then_some(&chain[1])), "seq {seq}");
        assert_eq!(minted.signed_entry(), minted.tbs());
        let spki = issuer.tbs_certificate().subject_public_key_info().to_der().unwrap();
        assert_eq!(minted.issuer_key_hash(), digest(&SHA256, &spki).as_ref());
        *(if signing { &mut by_signing_certificate } else { &mut direct }) += 1;
    }
    assert!(direct > 10 && by_signing_certificate > 10, "{direct} and {by_signing_certificate}");
}

#[test]
fn a_final_certificate_re_encodes_to_itself_and_is_its_own_entry() {
    for profile in Profile::all() {
        let minter = minter(1, Algorithm::P256, profile);
        let minted = (0..).map(|seq| mint(&minter, seq)).find(|one| one.kind() == Kind::X509).unwrap();
        let chain = certificates(&minted);
        assert!(extension(&chain[0], POISON).is_none());
        assert_eq!(chain[0].to_der().unwrap(), minted.leaf());
        assert_eq!(chain[0].tbs_certificate().to_der().unwrap(), minted.tbs());
        assert_eq!(minted.signed_entry(), minted.leaf());
    }
}

/// A SEQUENCE of 1.3.6.1.4.1.11129.2.4.4 alone.
const PRECERT_SIGNING_USAGE: [u8; 14] = [0x30, 12, 6, 10, 0x2b, 6, 1, 4, 1, 0xd6, 0x79, 2, 4, 4];
