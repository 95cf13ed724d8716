use std::net::SocketAddr;

use proptest::collection::vec;
use proptest::prelude::*;

use super::peer::MOST_PEERS;
use super::*;
use crate::recorder::{Interval, Recorder};
use crate::timing::Nanos;

/// What a client can tell its log.
#[derive(Clone, Copy, Debug)]
enum Act {
    Dialled(u8, u64),
    DialFailed(u8),
    /// The connection that was opened last is gone.
    Gone,
    Handshaken(u64, bool),
    LookedUp(u64),
    LookUpFailed,
    Answered(u64),
    /// An exchange over the connection that was opened last: answered after so long, cut off, or gone over to another one.
    Exchanged(Option<u64>, bool),
    /// One of the plain counts.
    Count(usize),
}

const PLAIN: [fn(&ConnectionLog); 9] = [
    ConnectionLog::reused,
    ConnectionLog::reset,
    ConnectionLog::closed_idle,
    ConnectionLog::closed,
    ConnectionLog::refused_stream,
    ConnectionLog::resent,
    ConnectionLog::redialled,
    ConnectionLog::unstamped,
    ConnectionLog::handshake_failed,
];

fn any_act() -> impl Strategy<Value = Act> {
    let any_nanos = || 0..10_000_000u64;
    prop_oneof![
        (any::<u8>(), any_nanos()).prop_map(|(peer, took)| Act::Dialled(peer, took)),
        any::<u8>().prop_map(Act::DialFailed),
        (proptest::option::of(any_nanos()), any::<bool>()).prop_map(|(took, is)| Act::Exchanged(took, is)),
        Just(Act::Gone),
        (any_nanos(), any::<bool>()).prop_map(|(took, resumed)| Act::Handshaken(took, resumed)),
        any_nanos().prop_map(Act::LookedUp),
        Just(Act::LookUpFailed),
        any_nanos().prop_map(Act::Answered),
        (0..PLAIN.len()).prop_map(Act::Count),
    ]
}

fn peer_at(place: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, place], 80))
}

fn exchange(open: &OpenConnection, took: Option<u64>, is: bool) {
    let mut exchange = open.exchange();
    match took {
        Some(took) => exchange.answered(Nanos(took), is),
        None if is => exchange.unsent(),
        None => {}
    }
}

fn tell(log: &ConnectionLog, open: &mut Vec<OpenConnection>, act: Act) {
    match act {
        Act::Dialled(peer, took) => open.push(log.dialled(peer_at(peer), Nanos(took))),
        Act::DialFailed(peer) => log.dial_failed(peer_at(peer)),
        Act::Exchanged(took, is) => open.last().into_iter().for_each(|open| exchange(open, took, is)),
        Act::Gone => drop(open.pop()),
        Act::Handshaken(took, resumed) => log.handshaken(Nanos(took), resumed),
        Act::LookedUp(took) => log.looked_up(Nanos(took)),
        Act::LookUpFailed => log.look_up_failed(),
        Act::Answered(took) => log.answered_first_byte(Nanos(took)),
        Act::Count(which) => PLAIN[which](log),
    }
}

fn taken(recorder: &mut Recorder) -> Interval {
    recorder.swap(Nanos(1), Interval::with_series(1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn intervals_that_travelled_add_up_to_what_was_noted(acts in vec(any_act(), 0..60), cut in 0..60usize) {
        let (mut whole, mut cut_up) = (Recorder::new(1), Recorder::new(1));
        let mut open = [Vec::new(), Vec::new()];
        let mut sum = Interval::with_series(1);
        let cut = cut.min(acts.len());
        for acts in [&acts[..cut], &acts[cut..]] {
            for act in acts {
                tell(&whole.connections("log"), &mut open[0], *act);
                tell(&cut_up.connections("log"), &mut open[1], *act);
            }
            let json = serde_json::to_string(&taken(&mut cut_up)).unwrap();
            sum.merge(&serde_json::from_str(&json).unwrap());
        }
        prop_assert_eq!(sum, taken(&mut whole));
    }
}

#[test]
fn each_note_is_counted_once_and_in_its_place() {
    let log = ConnectionLog::default();
    PLAIN.iter().enumerate().for_each(|(times, note)| (0..=times).for_each(|_| note(&log)));
    let mut record = ConnectionRecord::default();
    log.swap(&mut record);
    let expected = ConnectionCounts {
        reused: 1,
        resets: 2,
        closed_idle: 3,
        closed: 4,
        refused_streams: 5,
        resent: 6,
        redialled: 7,
        unstamped: 8,
        failed_handshakes: 9,
        ..ConnectionCounts::default()
    };
    assert_eq!(record.counts, expected);
}

#[test]
fn times_and_counts_of_what_takes_time_go_together() {
    let log = ConnectionLog::default();
    drop(log.dialled(peer_at(1), Nanos::from_micros(50)));
    log.dial_failed(peer_at(1));
    log.handshaken(Nanos::from_millis(2), false);
    log.handshaken(Nanos::from_millis(1), true);
    log.looked_up(Nanos::from_millis(3));
    log.look_up_failed();
    log.answered_first_byte(Nanos::from_millis(4));
    let mut record = ConnectionRecord::default();
    log.swap(&mut record);
    let counts = ConnectionCounts {
        dials: 2,
        failed_dials: 1,
        most_open: 1,
        tls_handshakes: 2,
        tls_resumed: 1,
        look_ups: 2,
        failed_look_ups: 1,
        ..ConnectionCounts::default()
    };
    assert_eq!((record.counts, record.counts.connected()), (counts, 1));
    assert_eq!(record.durations().map(Distribution::count), [1, 1, 2, 1]);
}

#[test]
fn the_most_that_were_open_at_once_add_up_over_intervals() {
    let log = ConnectionLog::default();
    let mut open: Vec<_> = (0..3).map(|_| log.dialled(peer_at(1), Nanos(1))).collect();
    let (mut first, mut second) = (ConnectionRecord::default(), ConnectionRecord::default());
    log.swap(&mut first);
    open.truncate(1);
    open.extend((0..3).map(|_| log.dialled(peer_at(1), Nanos(1))));
    log.swap(&mut second);
    assert_eq!((first.counts.most_open, second.counts.most_open), (3, 1));
    first.merge(&second);
    assert_eq!((first.counts.most_open, first.counts.connected()), (4, 6));
}

#[test]
fn a_log_allocates_no_histogram_before_its_first_sample() {
    let log = ConnectionLog::default();
    PLAIN.iter().for_each(|note| note(&log));
    log.dial_failed(peer_at(1));
    let allocated = |log: &ConnectionLog| {
        let mut record = ConnectionRecord::default();
        log.swap(&mut record);
        record.durations().map(|took| took.bytes() > 0)
    };
    assert_eq!(allocated(&log), [false; 4]);
    log.answered_first_byte(Nanos(1));
    assert_eq!(allocated(&log), [false, false, false, true]);
}

#[test]
fn a_name_has_one_log_and_names_have_their_own() {
    let mut recorder = Recorder::new(1);
    recorder.connections("read").reused();
    recorder.connections("submit").reset();
    recorder.connections("read").reused();
    let interval = taken(&mut recorder);
    let counts = interval.connections.iter().map(|of| (of.service.as_str(), of.record.counts));
    let read = ConnectionCounts { reused: 2, ..ConnectionCounts::default() };
    let submit = ConnectionCounts { resets: 1, ..ConnectionCounts::default() };
    assert_eq!(counts.collect::<Vec<_>>(), [("read", read), ("submit", submit)]);
}

#[test]
fn a_recycled_interval_has_nothing_of_what_it_held() {
    let mut recorder = Recorder::new(1);
    let open = recorder.connections("read").dialled(peer_at(1), Nanos(1));
    let mut interval = taken(&mut recorder);
    interval.clear();
    recorder.connections("read").reused();
    recorder.swap(Nanos(2), interval);
    let next = taken(&mut recorder);
    let record = &next.connections[0].record;
    // The peer is known still, and nothing was sent to it.
    let peers = vec![ServicePeer { peer: peer_at(1), record: PeerRecord::default() }];
    assert_eq!(*record, ConnectionRecord { peers, ..ConnectionRecord::default() });
    drop(open);
}

#[test]
fn connections_that_contradict_themselves_are_refused() {
    let mut recorder = Recorder::new(1);
    let log = recorder.connections("read");
    drop(log.dialled(peer_at(1), Nanos(1)));
    drop(log.dialled(peer_at(2), Nanos(1)).exchange());
    log.handshaken(Nanos(1), false);
    log.looked_up(Nanos(1));
    recorder.connections("submit").reused();
    let sound = serde_json::to_value(taken(&mut recorder)).unwrap();
    serde_json::from_value::<Interval>(sound.clone()).unwrap();
    let altered = |pointer: &str, value: serde_json::Value| {
        let mut json = sound.clone();
        *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        serde_json::from_value::<Interval>(json).unwrap_err().to_string()
    };
    let count =
        |name: &str, value: u64| altered(&format!("/connections/0/record/counts/{name}"), value.into());
    assert!(count("dials", 3).contains("its dials"));
    assert!(count("failed_look_ups", 1).contains("its look-ups"));
    assert!(count("tls_resumed", 2).contains("handshakes"));
    assert!(count("tls_handshakes", 2).contains("handshakes"));
    assert!(count("reused", u64::MAX).contains("more connections"));
    assert!(altered("/connections/0/record/first_byte/infinite", 1.into()).contains("for ever"));
    let peer = |name: &str, value: u64| {
        altered(&format!("/connections/0/record/peers/0/record/counts/{name}"), value.into())
    };
    assert!(peer("requests", 3).contains("the requests to a peer"));
    assert!(peer("error_answers", 1).contains("more errors than answers"));
    assert!(peer("dials", 2).contains("dials of its peers"));
    assert!(peer("most_open", u64::MAX).contains("more of a peer"));
    assert!(altered("/connections/0/record/peers/0/peer", "10.0.0.9:80".into()).contains("their addresses"));
    assert!(altered("/connections/0/service", "submit".into()).contains("order of their names"));
}

#[test]
fn what_is_sent_stands_with_the_peer_that_it_was_sent_to() {
    let log = ConnectionLog::default();
    let (first, second) = (log.dialled(peer_at(1), Nanos(1)), log.dialled(peer_at(2), Nanos(1)));
    let again = log.dialled(peer_at(1), Nanos(1));
    log.dial_failed(peer_at(2));
    [&first, &again, &second].into_iter().for_each(|open| exchange(open, Some(9), false));
    exchange(&second, Some(9), true);
    exchange(&second, None, false);
    exchange(&second, None, true);
    let mut record = ConnectionRecord::default();
    log.swap(&mut record);
    let counts: Vec<_> = record.peers.iter().map(|of| (of.peer, of.record.counts)).collect();
    let one = PeerCounts { requests: 2, dials: 2, most_open: 2, ..PeerCounts::default() };
    let two =
        PeerCounts { requests: 3, failures: 1, error_answers: 1, dials: 2, failed_dials: 1, most_open: 1 };
    assert_eq!(counts, [(peer_at(1), one), (peer_at(2), two)]);
    assert_eq!(record.other_peers, PeerRecord::default());
}

#[test]
fn peers_beyond_the_greatest_number_are_summed() {
    let log = ConnectionLog::default();
    let open: Vec<_> = (0..=MOST_PEERS as u8 + 1).map(|peer| log.dialled(peer_at(peer), Nanos(1))).collect();
    open.iter().for_each(|open| exchange(open, Some(9), false));
    let mut record = ConnectionRecord::default();
    log.swap(&mut record);
    assert_eq!((record.peers.len(), record.other_peers.counts.requests), (MOST_PEERS, 2));
    assert_eq!((record.other_peers.counts.most_open, record.other_peers.service_time.count()), (2, 2));
}
