use std::collections::HashSet;

use hammer_synth::{Algorithm, ChainLength, ChainMinter, MinterSpec, Names, Profile, SubjectKey};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::{mint, minter, spec};

fn profile(subject_key: SubjectKey) -> Profile {
    Profile { names: Names::DvTwoSans, subject_key, chain: ChainLength::Two }
}

fn distinct(minters: &[ChainMinter], seqs: u64) -> [usize; 5] {
    let mut seen: [HashSet<Vec<u8>>; 5] = Default::default();
    for minter in minters {
        for seq in 0..seqs {
            let minted = mint(minter, seq);
            let (_, leaf) = X509Certificate::from_der(minted.leaf()).unwrap();
            let id = leaf.extensions().iter().find(|one| one.oid.to_id_string() == "2.5.29.14").unwrap();
            let names = leaf.subject_alternative_name().unwrap().unwrap().value;
            let parts = [
                leaf.raw_serial().to_vec(),
                leaf.subject().as_raw().to_vec(),
                leaf.public_key().raw.to_vec(),
                id.value.to_vec(),
                format!("{:?}", names.general_names).into_bytes(),
            ];
            seen.iter_mut().zip(parts).for_each(|(set, part)| {
                set.insert(part);
            });
        }
    }
    seen.map(|set| set.len())
}

#[test]
fn serial_subject_key_key_id_and_names_differ_for_every_seq_stream_and_seed() {
    for subject_key in [SubjectKey::P256, SubjectKey::Rsa2048] {
        let of = |seed, stream| {
            let spec = MinterSpec { stream, ..spec(seed, Algorithm::P256, profile(subject_key)) };
            ChainMinter::new(&spec).unwrap()
        };
        let minters = [of(1, 0), of(1, 1), of(2, 0)];
        assert_eq!(minters[0].roots_pem(), minters[1].roots_pem());
        assert_eq!(distinct(&minters, 1000), [3000; 5], "{subject_key:?}");
    }
}

#[test]
fn a_serial_is_positive_has_sixteen_bytes_and_ends_with_its_seq() {
    for seed in 0..20 {
        let minter = minter(seed, Algorithm::P256, Profile::DV);
        for seq in [0, 1, 0x0102_0304_0506_0708, u64::MAX] {
            let minted = mint(&minter, seq);
            let (_, leaf) = X509Certificate::from_der(minted.leaf()).unwrap();
            let serial = leaf.raw_serial();
            assert_eq!(serial.len(), 16);
            assert!((0x40..0x80).contains(&serial[0]), "{:#x}", serial[0]);
            assert_eq!(serial[8..], seq.to_be_bytes());
        }
    }
}

#[test]
fn leaves_have_the_sizes_of_real_ones() {
    for profile in Profile::all() {
        let minter = ChainMinter::new(&spec(1, Algorithm::Rsa2048, profile)).unwrap();
        let size = mint(&minter, 0).leaf().len();
        let expected = match profile.names {
            Names::DvTwoSans => 1000..1700,
            Names::HundredSans => 4000..6000,
        };
        assert!(expected.contains(&size), "{profile}: {size} bytes");
    }
}
