use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use hammer_measure::Nanos;

use super::entry::{CorpusEntry, CorpusLog};
use super::{CorpusFile, CorpusLines, CorpusStart, CorpusWriter};
use crate::error::SigstoreError;

const UUID: &str = "00000000000000010000000000000000000000000000000000000000000000000000000000000abc";

/// A file that is removed with its folder.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("hammer-corpus-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.join("corpus.jsonl"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().unwrap());
    }
}

fn entry(log_index: u64, log: CorpusLog) -> CorpusEntry {
    CorpusEntry {
        log,
        uuid: UUID[if log == CorpusLog::RekorV1 { 0 } else { 16 }..].to_owned(),
        log_index,
        logged_unix_ms: 1_790_000_000_000 + log_index,
        integrated_time: (log == CorpusLog::RekorV1).then_some(1_790_000_000 - log_index as i64),
        artifact: vec![0xff, log_index as u8],
        identity: format!("\"{log_index}\"@hammer.test"),
        timestamp: if log == CorpusLog::RekorV1 { Vec::new() } else { vec![7; 100] },
    }
}

/// Opens a file for entries of either log, whatever they are called.
fn open(place: &Place, is_emptied: bool) -> Result<CorpusWriter, SigstoreError> {
    let start = CorpusStart { is_anew: is_emptied, ..RESUMED };
    CorpusWriter::open_for(&place.0, start, (CorpusLog::RekorV1, &[]))
}

/// Fills a file with these.
fn fill(place: &Place, entries: &[CorpusEntry], is_emptied: bool) -> (u64, u64, super::CorpusWritten) {
    let writer = open(place, is_emptied).unwrap();
    let (before, first) = (writer.entries(), writer.first_seq());
    let mut lines = CorpusLines::new(writer.sink());
    for (number, entry) in entries.iter().enumerate() {
        lines.add(Nanos::ZERO, first + number as u64, &entry.logged());
    }
    drop(lines);
    (before, first, writer.finish().unwrap())
}

#[test]
fn what_a_fill_writes_is_read_and_the_next_one_goes_on_behind_it_with_other_numbers() {
    let place = Place::new();
    let entries: Vec<_> = (0..500)
        .map(|index| entry(index, [CorpusLog::RekorV1, CorpusLog::RekorV2][index as usize % 2]))
        .collect();
    let (before, first, written) = fill(&place, &entries[..300], false);
    assert_eq!((before, first, written.added, written.lost), (0, 1 << 40, 300, 0));
    assert_eq!(CorpusFile::read(&place.0).unwrap().entries, entries[..300]);
    let (before, second, written) = fill(&place, &entries[300..], false);
    // Half of those that are there are of the log that is filled.
    assert_eq!((before, written.added, written.last.as_deref()), (150, 200, Some("of index 499")));
    assert!(second > first + 300, "{second}");
    assert_eq!(CorpusFile::read(&place.0).unwrap().entries, entries);
    // One that got nothing logged has taken its numbers all the same.
    let (_, third, _) = fill(&place, &[], false);
    let (_, fourth, _) = fill(&place, &[], false);
    assert!(third > second && fourth > third);
    let (before, ..) = fill(&place, &entries[..1], true);
    assert_eq!((before, CorpusFile::read(&place.0).unwrap().entries()), (0, 1));
}

#[test]
fn what_a_file_has_of_another_log_is_not_filled_before_and_its_numbers_are_taken() {
    let place = Place::new();
    let of = |log| (0..7).map(|index| entry(index, log)).collect::<Vec<_>>();
    let (_, first, _) = fill(&place, &of(CorpusLog::RekorV1), false);
    let writer = CorpusWriter::open_for(&place.0, RESUMED, (CorpusLog::RekorV2, &[])).unwrap();
    assert_eq!(writer.entries(), 0);
    assert!(writer.first_seq() > first + 7);
    let mut lines = CorpusLines::new(writer.sink());
    let logged = of(CorpusLog::RekorV2);
    logged[..3].iter().for_each(|entry| lines.add(Nanos::ZERO, writer.first_seq(), &entry.logged()));
    drop(lines);
    writer.finish().unwrap();
    let open = |log| CorpusWriter::open_for(&place.0, RESUMED, (log, &[])).unwrap();
    for (log, entries) in [(CorpusLog::RekorV1, 7), (CorpusLog::RekorV2, 3)] {
        let writer = open(log);
        assert_eq!(writer.entries(), entries, "{log:?}");
        writer.finish().unwrap();
    }
}

#[test]
fn a_fill_that_was_killed_leaves_a_line_without_its_end_which_is_dropped() {
    let place = Place::new();
    fill(&place, &[entry(1, CorpusLog::RekorV1), entry(2, CorpusLog::RekorV1)], false);
    let whole = std::fs::read(&place.0).unwrap();
    for cut in 1..100 {
        std::fs::write(&place.0, &whole[..whole.len() - cut]).unwrap();
        let found = CorpusFile::read(&place.0).unwrap().entries();
        // Without its newline it is whole.
        assert_eq!(found, if cut == 1 { 2 } else { 1 });
        let (before, ..) = fill(&place, &[entry(3, CorpusLog::RekorV1)], false);
        assert_eq!((before, CorpusFile::read(&place.0).unwrap().entries()), (found, found + 1));
    }
}

#[test]
fn a_line_that_is_none_is_named() {
    let place = Place::new();
    fill(&place, &[entry(1, CorpusLog::RekorV1)], false);
    let whole = std::fs::read_to_string(&place.0).unwrap();
    for (text, line, why) in [
        ("notes".to_owned(), 1, "it is no corpus"),
        ("{}\n".to_owned(), 1, "it is no corpus"),
        ("{\"hammer_corpus\":2}\n".to_owned(), 1, "version 2"),
        (format!("{whole}{{\"log\":\"rekor-v3\"}}\n"), 4, "rekor-v3"),
        (whole.replace(UUID, "12"), 3, "`uuid`"),
        (whole.replace("rekor-v1", "rekor-v2"), 3, "`leaf`"),
        (whole.replace("/wE=", "?"), 3, "`artifact`"),
        (whole.replace("\"flow\"", "\"flown\""), 3, "flown"),
        (format!("{whole}\n{whole}"), 4, "EOF"),
        (format!("{whole}{{\"fill\":-1}}\n"), 4, "-1"),
    ] {
        std::fs::write(&place.0, &text).unwrap();
        match CorpusFile::read(&place.0) {
            Err(SigstoreError::CorpusLine { line: found, reason, .. }) => {
                assert!(found == line && reason.contains(why), "{found}: {reason}");
            }
            other => panic!("{text}: {other:?}"),
        }
        assert!(open(&place, false).is_err(), "nobody writes behind what is no corpus");
        assert_eq!(std::fs::read_to_string(&place.0).unwrap(), text);
    }
}

#[test]
fn an_older_corpus_says_nothing_of_when_its_entries_were_integrated() {
    let place = Place::new();
    fill(&place, &[entry(1, CorpusLog::RekorV1)], false);
    let text = std::fs::read_to_string(&place.0).unwrap();
    let said = ",\"integrated\":1789999999";
    assert!(text.contains(said), "{text}");
    std::fs::write(&place.0, text.replace(said, "")).unwrap();
    let older = CorpusEntry { integrated_time: None, ..entry(1, CorpusLog::RekorV1) };
    assert_eq!(CorpusFile::read(&place.0).unwrap().entries, [older]);
}

#[test]
fn a_file_that_is_no_corpus_is_not_emptied() {
    let place = Place::new();
    std::fs::write(&place.0, "what somebody wrote\n").unwrap();
    for is_emptied in [false, true] {
        assert!(open(&place, is_emptied).is_err());
        assert_eq!(std::fs::read_to_string(&place.0).unwrap(), "what somebody wrote\n");
    }
}

#[test]
fn a_file_is_filled_by_one_at_a_time() {
    let place = Place::new();
    let writer = open(&place, false).unwrap();
    let second = open(&place, false).err().unwrap();
    let told = format!(
        "{}: {}",
        second,
        std::error::Error::source(&second).map(ToString::to_string).unwrap_or_default()
    );
    assert!(told.contains("another process fills it"), "{told}");
    writer.finish().unwrap();
    assert!(open(&place, false).is_ok());
}

#[test]
fn a_corpus_of_another_log_is_refused_with_the_line_and_both_logs() {
    let place = Place::new();
    let open = |log, ids: &[&str]| {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        CorpusWriter::open_for(&place.0, RESUMED, (log, &ids))
    };
    let fill = |writer: CorpusWriter, entry: CorpusEntry| {
        let mut lines = CorpusLines::new(writer.sink());
        lines.add(Nanos::ZERO, writer.first_seq(), &entry.logged());
        drop(lines);
        writer.finish().unwrap();
    };
    let (one, two) = (CorpusLog::RekorV1, CorpusLog::RekorV2);
    // Its thread has the file until it ends.
    let asks = |writer: CorpusWriter| {
        let probe = writer.probe();
        writer.finish().unwrap();
        probe.is_some()
    };
    assert!(!asks(open(one, &["aa", "bb"]).unwrap()), "there is nothing to ask for");
    fill(open(one, &["aa", "bb"]).unwrap(), entry(4, one));
    fill(open(two, &["log+01"]).unwrap(), entry(9, two));
    // A key was added, and another one was taken away.
    fill(open(one, &["bb", "cc"]).unwrap(), entry(5, one));
    assert!(asks(open(two, &["log+01"]).unwrap()));
    for (log, ids, at, said) in
        [(one, "dd", 3, "Rekor v1 with log ID aa, bb"), (two, "log+02", 5, "ID log+01")]
    {
        match open(log, &[ids]) {
            Err(SigstoreError::CorpusLine { line, reason, .. }) => {
                let told = reason.contains(said) && reason.ends_with(&format!("that of the target is {ids}"));
                assert!(line == at && told, "{line}: {reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    // Whoever does not say it is read as before.
    let text = std::fs::read_to_string(&place.0).unwrap();
    let silent = |line: &str| match line.split_once(",\"log_ids\"") {
        Some((fill, _)) => format!("{fill}}}\n"),
        None => format!("{line}\n"),
    };
    std::fs::write(&place.0, text.lines().map(silent).collect::<String>()).unwrap();
    assert_eq!(open(one, &["dd"]).unwrap().entries(), 2);
}

#[test]
fn a_corpus_is_started_anew_with_its_services_where_no_entry_may_be_of_another_log() {
    let one = CorpusLog::RekorV1;
    // Which log, whether it ends with the run, and whether an entry was logged.
    let of_fills = |place: &Place, fills: &[(CorpusLog, bool, bool)]| {
        for (number, (log, is_embedded, has_entry)) in fills.iter().enumerate() {
            // As one of its services would drop what was filled before, it is said later.
            let writer = CorpusWriter::open_for(&place.0, RESUMED, (*log, &[])).unwrap();
            let mut lines = CorpusLines::new(writer.sink());
            let first = writer.first_seq();
            (0..u64::from(*has_entry))
                .for_each(|_| lines.add(Nanos::ZERO, first, &entry(number as u64, *log).logged()));
            drop(lines);
            writer.finish().unwrap();
            if *is_embedded {
                let text = std::fs::read_to_string(&place.0).unwrap();
                let (before, last) = text.rsplit_once("{\"fill\":").unwrap();
                let last = last.replacen('}', ",\"embedded\":true}", 1);
                std::fs::write(&place.0, format!("{before}{{\"fill\":{last}")).unwrap();
            }
        }
    };
    let two = CorpusLog::RekorV2;
    for (fills, dropped) in [
        (vec![(one, true, true), (two, true, true), (one, true, false)], 2),
        // A fill that got nothing logged leaves nothing of its log.
        (vec![(two, true, true), (one, false, false)], 1),
        (vec![(one, true, false)], 0),
        (vec![], 0),
        (vec![(two, true, true), (one, false, true)], 0),
        (vec![(two, false, true)], 0),
    ] {
        let place = Place::new();
        of_fills(&place, &fills);
        let before = std::fs::read(&place.0).unwrap_or_default();
        let start = CorpusStart { is_embedded: true, ..RESUMED };
        let kept = CorpusStart { is_kept: true, ..start };
        let copy = Place::new();
        std::fs::write(&copy.0, &before).unwrap();
        let writer = CorpusWriter::open_for(&copy.0, kept, (two, &[])).unwrap();
        assert_eq!(writer.dropped(), 0, "an earlier run filled it: {fills:?}");
        writer.finish().unwrap();
        let writer = CorpusWriter::open_for(&place.0, start, (two, &[])).unwrap();
        assert_eq!(writer.dropped(), dropped, "{fills:?}");
        writer.finish().unwrap();
        let after = std::fs::read(&place.0).unwrap();
        match dropped {
            0 => assert!(after.starts_with(&before), "{fills:?}"),
            _ => assert_eq!(CorpusFile::parse(&after).unwrap().entries(), 0, "{fills:?}"),
        }
        // What it writes ends with its run as well.
        assert!(String::from_utf8(after).unwrap().ends_with(",\"embedded\":true}\n"), "{fills:?}");
        // Who fills a log that is there to stay drops nothing.
        let writer = CorpusWriter::open_for(&place.0, RESUMED, (two, &[])).unwrap();
        assert_eq!(writer.dropped(), 0);
        writer.finish().unwrap();
    }
    // Entries that no fill's line stands before.
    let place = Place::new();
    of_fills(&place, &[(one, true, true), (two, true, true)]);
    let text = std::fs::read_to_string(&place.0).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(1, 2);
    std::fs::write(&place.0, lines.join("\n")).unwrap();
    let start = CorpusStart { is_embedded: true, ..RESUMED };
    let writer = CorpusWriter::open_for(&place.0, start, (two, &[])).unwrap();
    assert_eq!((writer.dropped(), writer.entries()), (0, 1));
    writer.finish().unwrap();
}

const RESUMED: CorpusStart = CorpusStart { is_anew: false, is_embedded: false, is_kept: false };
