//! Names tiles, held against their entries.

use hammer_core::promise::Fault;
use hammer_read::{Part, plain, surplus};
use hammer_tlog::ct::bundle::{Entries, Entry};
use hammer_tlog::ct::names::{NamesLine, lines};

/// Holds each line of a names tile against its entry, which was held against the tree before: the time is the entry's,
/// and each DNS name stands in its certificate. There are no more lines than entries.
pub(super) fn check(names: &Part<'_>, bundle: &Part<'_>) -> Result<(), Fault> {
    let tile = names.id();
    let refused = |index: u64, why: &str| {
        Err(Fault::at(ALTERED_NAMES, index, format!("{tile}: the line of index {index} {why}")))
    };
    let (names, bundle) = (plain(names)?, plain(bundle)?);
    let mut lines = lines(&names);
    let entries = Entries::new(&bundle).take(tile.width.into());
    for (index, entry) in (tile.first()..).zip(entries) {
        let Ok(entry) = entry else { return refused(index, "is of an entry that cannot be read") };
        match lines.next() {
            None => return refused(index, "is missing"),
            Some(Err(_)) => return refused(index, "cannot be read"),
            Some(Ok(line)) if line.timestamp != entry.timestamp_ms => {
                return refused(index, "has another timestamp than its entry");
            }
            Some(Ok(line)) => {
                if let Some(name) = foreign(&line, &entry) {
                    return refused(index, &format!("has the name {name:?}, which its entry does not have"));
                }
            }
        }
    }
    match surplus(tile, lines.map(|line| line.map(drop))) {
        Some(why) => {
            let end = tile.first() + u64::from(tile.width);
            Err(Fault::at(ALTERED_NAMES, end, format!("{tile}: behind its {} lines {why}", tile.width)))
        }
        None => Ok(()),
    }
}

/// A DNS name of the line that the certificate does not have. Its other names may be written there in other ways.
fn foreign<'a>(line: &'a NamesLine, entry: &Entry<'_>) -> Option<&'a str> {
    let certificate = entry.submitted();
    let has = |name: &str| certificate.windows(name.len().max(1)).any(|window| window == name.as_bytes());
    line.dns.iter().map(String::as_str).find(|name| name.is_ascii() && !has(name))
}

const ALTERED_NAMES: &str = "altered-names";
