use hammer_tlog::follow::Event;

use crate::log::{Log, certificate};
use crate::watch::{Watch, follow};

/// Processor seconds of this thread so far.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// `cargo test --release --test story cost -- --ignored --nocapture --test-threads 1`.
#[test]
#[ignore = "a measurement, for a release build on a quiet machine"]
fn a_full_bundle_is_audited_in_well_under_a_millisecond() {
    const BUNDLES: u64 = 400;
    let mut log = Log::of(0);
    let mut watch = Watch::new();
    for seq in 0..BUNDLES * 256 {
        let certificate = certificate(seq, 1500);
        let (receipt, leaf) = log.promise(seq, seq, &certificate);
        log.integrate(leaf, &certificate, seq);
        watch.audit.accept(receipt);
    }
    log.leaf_inputs.clear();
    let bundles: Vec<_> = (0..BUNDLES as usize).map(|at| log.entries[at * 256..][..256].concat()).collect();
    let begun = cpu_seconds();
    let events = follow(&mut watch.follower, &log, log.head());
    let followed = cpu_seconds() - begun;
    assert!(matches!(events[..], [Event::Grew { .. }]));
    let begun = cpu_seconds();
    events.iter().for_each(|event| watch.audit.follow(event));
    for (tile, bytes) in watch.audit.needs(usize::MAX, true).into_iter().zip(&bundles) {
        watch.audit.tile(tile, bytes);
    }
    let audited = cpu_seconds() - begun;
    assert_eq!(watch.audit.verdicts().len() as u64, BUNDLES * 256);
    let each = |seconds: f64| seconds * 1e6 / BUNDLES as f64;
    println!("a tile of 256: followed {:.1} us, audited {:.1} us of CPU", each(followed), each(audited));
    assert!(each(audited) < 800.0);
}
