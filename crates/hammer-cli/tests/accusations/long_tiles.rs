//! Tiles that are longer than any: what a log writes beyond one costs no memory, and is told.

use hammer_lab::ct::Flavour;

use crate::front::{Passed, front};
use crate::hammer_at;
use crate::log::Log;

const LENGTH: usize = 12 << 20;

#[test]
fn a_hash_tile_that_is_longer_than_any_is_told_as_tampered_and_read_no_further() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let url = front(&log.lab.url, |path| match path.starts_with("/tile/0/") {
        true => Passed::Answered(vec![0; LENGTH]),
        false => Passed::On,
    });
    let report = hammer_at(&log, &url, "read", &["-q", "20/s", "-z", "1s", "--out", "-"]).report();
    let promises = &report.promises.all;
    assert_eq!((report.verdict.exit_code, promises.unchecked), (4, 0), "{promises:?}");
    assert!(promises.broken > 0, "{promises:?}");
    for breach in &report.breaches {
        assert_eq!(breach.kind, "tampered-tile", "{breach:?}");
        assert!(breach.detail.contains("more than 8192 bytes are not"), "{breach:?}");
    }
    let read: u64 = report.operations().map(|of| of.measurement.counts.bytes_in).sum();
    assert!(read < LENGTH as u64, "{read} bytes");
}
