//! Every fuzz target on its seeds, as they are and altered, so that the targets hold without a fuzzer too.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use hammer_fuzz::TARGETS;
use hammer_mutate::{Mutator, cases};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = folder().join("seeds").join(target);
    let read = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = read.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn every_target_has_a_seed_that_it_believes() {
    for (name, target) in TARGETS {
        assert!(seeds(name).iter().any(|seed| target(seed)), "{name}");
    }
}

#[test]
fn every_seed_of_an_interval_is_of_the_format_that_is_read() {
    let (_, target) = TARGETS.iter().find(|(name, _)| *name == "interval").unwrap();
    assert!(seeds("interval").iter().all(|seed| target(seed)));
}

#[test]
fn every_target_is_one_for_cargo_fuzz_too() {
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        let body = fs::read_to_string(folder().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(body.contains(&format!("run(\"{name}\"")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
    }
    let bins = manifest.matches("[[bin]]").count();
    assert_eq!(bins, TARGETS.len());
}

#[test]
fn nothing_panics_and_nothing_is_believed_that_should_not_be() {
    for (number, (name, target)) in TARGETS.into_iter().enumerate() {
        let seeds = seeds(name);
        let mut mutator = Mutator::new(number as u64);
        // A runtime and a socket for each case.
        let cases = cases(if name == "http1" { 1_000 } else { 5_000 });
        for case in 0..cases {
            let seed = &seeds[mutator.rng().below(seeds.len())];
            let other = &seeds[mutator.rng().below(seeds.len())];
            let input = mutator.any(seed, other);
            if catch_unwind(|| target(&input)).is_err() {
                panic!("{name}, case {case} of seed {number}: {:?}", String::from_utf8_lossy(&input));
            }
        }
    }
}
