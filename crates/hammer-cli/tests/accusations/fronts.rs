//! Fronts of honest logs: some of what they have comes late, or is lacking for a while.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hammer_core::clock::MonotonicClock;
use hammer_measure::{Nanos, Now as _};
use hammer_tlog::logs::tile::TileId;
use serde_json::Value;

use crate::front::{Passed, front, read};
use crate::log::Log;

/// A log whose tiles come late behind one URL: each of those that `is_late` is 404 when it is asked for first, and for so long after that.
pub(crate) fn late(log: &Log, lag: Nanos, is_late: fn(&str) -> bool) -> String {
    refusing(log, 404, lag, is_late)
}

/// A log that refuses each of the paths that `is_late` with that status when it is asked for first, and for so long after that.
pub(crate) fn refusing(log: &Log, status: u16, lag: Nanos, is_late: fn(&str) -> bool) -> String {
    let (asked, clock) = (Mutex::<HashMap<String, Nanos>>::default(), MonotonicClock::starting_now());
    front(&log.lab.url, move |path| {
        let now = clock.now();
        match is_late(path) && now.since(*asked.lock().unwrap().entry(path.to_owned()).or_insert(now)) <= lag
        {
            true => Passed::Refused(status),
            false => Passed::On,
        }
    })
}

/// Two fronts of one log behind one URL, which answer by turns; one of them has what the other had so long ago.
pub(crate) fn lagging(log: &Log, lag: Nanos) -> String {
    let (url, asked, clock) = (log.lab.url.clone(), AtomicU64::new(0), MonotonicClock::starting_now());
    let heads: Mutex<VecDeque<(Nanos, Vec<u8>)>> = Mutex::default();
    front(&log.lab.url, move |path| {
        let now = clock.now();
        let mut heads = heads.lock().unwrap();
        heads.push_back((now, read(&url, "/checkpoint")));
        // The last of those that are so old is what it has.
        while heads.get(1).is_some_and(|(at, _)| now.since(*at) >= lag) {
            heads.pop_front();
        }
        let old = heads[0].1.clone();
        let size: u64 = String::from_utf8_lossy(&old).lines().nth(1).unwrap().parse().unwrap();
        let lacks = |tile: TileId| tile.level.items(size) < tile.index * 256 + u64::from(tile.width);
        match path.trim_start_matches('/') {
            _ if asked.fetch_add(1, Ordering::Relaxed) % 2 == 0 => Passed::On,
            "checkpoint" => Passed::Answered(old),
            tile if tile.parse().is_ok_and(lacks) => Passed::Refused(404),
            _ => Passed::On,
        }
    })
}

/// The same of an RFC 6962 log: whatever names a larger tree than it has is refused by the one that lags (RFC 6962, section 4.5).
pub(crate) fn lagging_proofs(log: &Log, lag: Nanos) -> String {
    let (url, asked, clock) = (log.lab.url.clone(), AtomicU64::new(0), MonotonicClock::starting_now());
    let heads: Mutex<VecDeque<(Nanos, Vec<u8>)>> = Mutex::default();
    front(&log.lab.url, move |path| {
        let now = clock.now();
        let mut heads = heads.lock().unwrap();
        heads.push_back((now, read(&url, "/ct/v1/get-sth")));
        while heads.get(1).is_some_and(|(at, _)| now.since(*at) >= lag) {
            heads.pop_front();
        }
        let old = heads[0].1.clone();
        let head: Value = serde_json::from_slice(&old).unwrap();
        let has = |named: &str, leaves: u64| match named.split_once('=') {
            Some(("tree_size" | "second", size)) => size.parse::<u64>().unwrap() <= leaves,
            Some(("start", first)) => first.parse::<u64>().unwrap() < leaves,
            _ => true,
        };
        let leaves = head["tree_size"].as_u64().unwrap();
        let lacks = path.split(['?', '&']).any(|named| !has(named, leaves));
        match path {
            _ if path.contains("/add-") || asked.fetch_add(1, Ordering::Relaxed) % 2 == 0 => Passed::On,
            "/ct/v1/get-sth" => Passed::Answered(old),
            _ if lacks => Passed::Refused(400),
            _ => Passed::On,
        }
    })
}

pub(crate) fn is_tile(path: &str) -> bool {
    path.starts_with("/tile/")
}

pub(crate) fn is_tile_or_issuer(path: &str) -> bool {
    is_tile(path) || path.starts_with("/issuer/")
}
