//! Tiles that come later than the head that covers them.

use std::collections::BTreeSet;
use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_tlog::logs::tile::{Level, TileId};

use super::voice::AuditVoice;
use crate::inspector::NEXT_LOOK;
use crate::reader::AuditReader;
use crate::source::LogSource;

/// Tiles that were not served when they were asked for: who answered for a tile need not be who answered for the head that covers it, though
/// both stand behind one URL, and one of them may lag behind the other. They are asked for again, and told where they stay away.
#[derive(Default)]
pub(super) struct LateTiles {
    waiting: Vec<LateTile>,
    /// Places of those that were told, and are no news, however wide the next head has them.
    told: BTreeSet<(Level, u64)>,
    /// How often there was no room for one.
    left_out: u64,
    /// How many came in the end.
    came: u64,
}

struct LateTile {
    tile: TileId,
    since: Nanos,
    /// When it was asked for last.
    looked: Nanos,
    /// Whether it was asked for again, and not served.
    is_missed_again: bool,
    kind: &'static str,
    detail: String,
}

impl LateTiles {
    /// Takes that a tile was not served at `now`.
    pub(super) fn wait_for(&mut self, tile: TileId, (kind, detail): (&'static str, String), now: Nanos) {
        let is_known = |late: &LateTile| place_of(late.tile) == place_of(tile);
        if self.told.contains(&place_of(tile)) || self.waiting.iter().any(is_known) {
            return;
        }
        match self.waiting.len() < MOST {
            true => self.waiting.push(LateTile {
                tile,
                since: now,
                looked: now,
                is_missed_again: false,
                kind,
                detail,
            }),
            false => self.left_out += 1,
        }
    }

    /// Takes that a head was proved, for which all of its hash tiles were served.
    pub(super) fn grew(&mut self) {
        self.told.retain(|(level, _)| !matches!(level, Level::Hashes(_)));
    }

    /// Asks once more for tiles that are not served since the log's servers may lag behind each other ([`LogSource::lags_at_most`]), or
    /// since the last look where that is not known; for any once no more load comes. Tells those that stay away for so long. It asks for
    /// [`ROUND`] of them, and in the next round for others.
    pub(super) async fn ask_again<L: LogSource>(&mut self, reader: &AuditReader<L>, voice: &AuditVoice) {
        let patience = patience(reader);
        // Where nothing is known of its servers, it is asked once, for there is no long wait to cut short.
        let is_judging = voice.is_judging() && reader.log().lags_at_most().is_some();
        for tile in self.due(voice.now(), if is_judging { Nanos::ZERO } else { patience }) {
            let asked = voice.now();
            let is_due =
                self.waiting.iter().any(|late| late.tile == tile && asked.since(late.since) >= patience);
            // Of a log that has lost many no more than that is to be told.
            let found = match is_due && self.told.len() < FEW {
                true => reader.by_now_surely(tile).await,
                false => reader.by_now(tile).await,
            };
            // Each stayed where it was while it was asked for: a round may be cut off there.
            let Some(place) = self.waiting.iter().position(|late| late.tile == tile) else { continue };
            match found {
                Ok(Some(_)) => {
                    self.waiting.remove(place);
                    self.came += 1;
                }
                Ok(None) if asked.since(self.waiting[place].since) >= patience => {
                    let LateTile { tile, kind, detail, .. } = self.waiting.remove(place);
                    self.told.insert(place_of(tile));
                    voice.breach(kind, None, detail);
                }
                found => {
                    let late = &mut self.waiting[place];
                    late.looked = asked;
                    late.is_missed_again |= found.is_ok();
                }
            }
        }
        if self.came > 0 {
            voice.observed("late_tiles", self.came as f64);
        }
    }

    /// Those that have waited for so long, of which [`ROUND`] that were looked at least lately.
    fn due(&self, now: Nanos, patience: Nanos) -> Vec<TileId> {
        let mut due: Vec<_> = self.waiting.iter().filter(|late| now.since(late.since) >= patience).collect();
        due.sort_by_key(|late| late.looked);
        due.into_iter().take(ROUND).map(|late| late.tile).collect()
    }

    /// Asks a last time for what was missed a moment ago, of a log of which no more is known than that, as soon as that is so of one.
    pub(super) async fn at_last<L: LogSource>(
        &mut self,
        reader: &AuditReader<L>,
        clock: &Rc<dyn Clock>,
        voice: &AuditVoice,
    ) {
        if reader.log().lags_at_most().is_some() {
            return;
        }
        while let Some(since) = self.waiting.iter().map(|late| late.since).min() {
            clock.sleep_until(since.saturating_add(NEXT_LOOK)).await;
            let before = self.waiting.len();
            self.ask_again(reader, voice).await;
            // What cannot be told now cannot be told a moment later.
            if self.waiting.len() == before {
                return;
            }
        }
    }

    /// Tells what is not served at the end, but for what was missed a moment ago. Where the log contradicted itself, whoever was asked may have
    /// the other tree, and nothing is told but in a note.
    pub(super) fn end(self, has_contradicted: bool, voice: &AuditVoice) {
        let now = voice.now();
        for late in self.waiting {
            let seconds = now.since(late.since).as_secs_f64();
            if has_contradicted || !late.is_missed_again || now.since(late.since) < A_MOMENT {
                voice.note(&format!("{}, since {seconds:.1} s: too late in the run to tell", late.detail));
            } else {
                voice.breach(late.kind, None, late.detail);
            }
        }
        if self.left_out > 0 {
            voice.note(&format!(
                "tiles were not served {} more times, beyond the {MOST} that were asked for again",
                self.left_out
            ));
        }
        if self.came > 0 {
            voice.note(&format!("{} tiles came later than the checkpoint that covers them", self.came));
        }
    }
}

/// How long a tile of that log may stay away.
fn patience<L: LogSource>(reader: &AuditReader<L>) -> Nanos {
    reader.log().lags_at_most().map_or(NEXT_LOOK, Nanos::from)
}

fn place_of(tile: TileId) -> (Level, u64) {
    (tile.level, tile.index)
}

/// Tiles of which it is made sure, before they are told, that nobody serves them.
const FEW: usize = 8;

const MOST: usize = 4096;
/// Tiles that are looked for in one round. A look is eight requests, so that all that may wait are 32,768: of a log that has lost its tiles
/// no round is to take minutes, in which its head is not read, nor is that many to be sent once its run has ended.
const ROUND: usize = 64;
/// Less than servers of one log lag behind each other.
const A_MOMENT: Nanos = Nanos::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_waits_once_however_wide_it_is_and_what_there_is_no_room_for_is_counted() {
        let mut late = LateTiles::default();
        let mut misses = |tile| late.wait_for(tile, ("missing-tile", String::new()), Nanos::ZERO);
        let edge = TileId::hashes(0, 7);
        [3, 9, 20].into_iter().for_each(|width| misses(TileId { width, ..edge }));
        (8..MOST as u64 + 9).for_each(|index| misses(TileId::hashes(0, index)));
        assert_eq!((late.waiting.len(), late.left_out, late.told.len()), (MOST, 2, 0));
    }

    #[test]
    fn a_round_looks_for_some_of_those_that_wait_and_the_next_one_for_others() {
        let mut late = LateTiles::default();
        for index in 0..3 * ROUND as u64 - 9 {
            late.wait_for(TileId::hashes(0, index), ("missing-tile", String::new()), Nanos::ZERO);
        }
        assert_eq!(late.due(Nanos::from_secs(1), Nanos::from_secs(2)), []);
        let mut seen = BTreeSet::new();
        for second in 2..5 {
            let due = late.due(Nanos::from_secs(second), Nanos::from_secs(2));
            assert_eq!(due.len(), ROUND);
            let looked = late.waiting.iter_mut().filter(|late| due.contains(&late.tile));
            looked.for_each(|late| late.looked = Nanos::from_secs(second));
            seen.extend(due);
        }
        assert_eq!(seen.len(), late.waiting.len(), "none is left out for ever");
    }

    #[test]
    fn hash_tiles_that_were_told_are_news_again_once_the_tree_grew_and_bundles_are_not() {
        let (hashes, mut late) = (TileId::hashes(0, 7), LateTiles::default());
        let bundle = TileId { level: Level::Data, ..hashes };
        late.told.extend([hashes, bundle].map(place_of));
        late.grew();
        [hashes, bundle]
            .into_iter()
            .for_each(|tile| late.wait_for(tile, ("missing-tile", String::new()), Nanos::ZERO));
        assert_eq!(late.waiting.iter().map(|late| late.tile).collect::<Vec<_>>(), [hashes]);
    }
}
