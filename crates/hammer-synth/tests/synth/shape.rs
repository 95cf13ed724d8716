use hammer_synth::{Algorithm, ChainMinter, MintScratch, Minted, MinterSpec, Profile, Shape, Validity};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::{minter, spec};

const CLIENT_AUTH_ALONE: &[u8] = &[0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 2];

/// The leaf of seq 3 of that shape, and the one without.
fn leaves(spec: &MinterSpec, shape: Shape) -> [Certificate; 2] {
    let usual = minter(1, Algorithm::P256, Profile::DV);
    let leaf = |minter: &ChainMinter| {
        let mut minted = Minted::new();
        minter.mint(3, &mut MintScratch::new(), &mut minted);
        Certificate::from_der(minted.leaf()).unwrap()
    };
    [leaf(&usual.shaped(spec, shape).unwrap()), leaf(&usual.shaped(spec, Shape::default()).unwrap())]
}

fn extension(certificate: &Certificate, oid: &str) -> Option<(bool, Vec<u8>)> {
    let mut all = certificate.tbs_certificate().extensions().unwrap().iter();
    let found = all.find(|one| one.extn_id.to_string() == oid)?;
    Some((found.critical, found.extn_value.as_bytes().to_vec()))
}

#[test]
fn a_shape_changes_what_it_names_and_keeps_serial_and_key() {
    let precerts = MinterSpec { precert_percent: 100, ..spec(1, Algorithm::P256, Profile::DV) };
    let poison = |certificate: &Certificate| extension(certificate, "1.3.6.1.4.1.11129.2.4.3").unwrap();
    let usage = |certificate: &Certificate| extension(certificate, "2.5.29.37").unwrap().1;
    for shape in [
        Shape { server_auth: false, ..Shape::default() },
        Shape { critical_poison: false, ..Shape::default() },
        Shape { padding: 100_000, ..Shape::default() },
    ] {
        let [shaped, usual] = leaves(&precerts, shape);
        assert_eq!(poison(&shaped), (shape.critical_poison, vec![5, 0]));
        assert_eq!(usage(&shaped) == CLIENT_AUTH_ALONE, !shape.server_auth);
        assert_eq!(
            extension(&shaped, "1.3.6.1.4.1.32473.1").map(|(_, value)| value.len() > 100_000),
            (shape.padding > 0).then_some(true)
        );
        let (shaped, usual) = (shaped.tbs_certificate(), usual.tbs_certificate());
        assert_eq!(shaped.serial_number(), usual.serial_number());
        assert_eq!(shaped.subject_public_key_info(), usual.subject_public_key_info());
        assert_eq!(shaped.issuer(), usual.issuer());
    }
}

#[test]
fn leaves_of_other_dates_come_from_the_same_authorities() {
    let validity = Validity::new(1_000_000_000, 1_100_000_000).unwrap();
    let dated = MinterSpec { validity, ..spec(1, Algorithm::P256, Profile::DV) };
    let usual = minter(1, Algorithm::P256, Profile::DV);
    let mut minted = Minted::new();
    usual.shaped(&dated, Shape::default()).unwrap().mint(3, &mut MintScratch::new(), &mut minted);
    assert_eq!(minted.not_after(), 1_100_000_000);
    let above: Vec<Vec<u8>> = minted.certificates().skip(1).map(<[u8]>::to_vec).collect();
    usual.mint(3, &mut MintScratch::new(), &mut minted);
    assert!(minted.certificates().skip(1).eq(above));
}

#[test]
fn a_broken_signature_alone_is_changed() {
    let usual = minter(1, Algorithm::P256, Profile::DV);
    let (mut minted, mut broken) = (Minted::new(), Minted::new());
    usual.mint(3, &mut MintScratch::new(), &mut minted);
    broken.copy_from(&minted);
    assert!(broken.certificates().eq(minted.certificates()) && broken.tbs() == minted.tbs());
    broken.break_signature();
    let changed: Vec<_> =
        broken.leaf().iter().zip(minted.leaf()).filter(|(one, other)| one != other).collect();
    assert_eq!(changed.len(), 1);
    assert!(Certificate::from_der(broken.leaf()).is_ok());
}
