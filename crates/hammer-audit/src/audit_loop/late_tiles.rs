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
            true => self.waiting.push(LateTile { tile, since: now, is_missed_again: false, kind, detail }),
            false => self.left_out += 1,
        }
    }

    /// Takes that a head was proved, for which all of its hash tiles were served.
    pub(super) fn grew(&mut self) {
        self.told.retain(|(level, _)| !matches!(level, Level::Hashes(_)));
    }

    /// Asks once more for the tiles that are not served since the log's servers may lag behind each other ([`LogSource::lags_at_most`]), or
    /// since the last look where that is not known; for all once no more load comes. Tells those that stay away for so long.
    pub(super) async fn ask_again<L: LogSource>(&mut self, reader: &AuditReader<L>, voice: &mut AuditVoice) {
        let patience = patience(reader);
        // Where nothing is known of its servers, it is asked once, for there is no long wait to cut short.
        let is_judging = voice.is_judging() && reader.log().lags_at_most().is_some();
        let mut place = 0;
        // Each stays where it is while it is asked for: a round may be cut off there.
        while let Some(late) = self.waiting.get_mut(place) {
            let is_over = voice.now().since(late.since) >= patience;
            if !is_judging && !is_over {
                place += 1;
                continue;
            }
            match reader.by_now(late.tile).await {
                Ok(Some(_)) => {
                    self.waiting.remove(place);
                    self.came += 1;
                }
                Ok(None) if is_over => {
                    let LateTile { tile, kind, detail, .. } = self.waiting.remove(place);
                    self.told.insert(place_of(tile));
                    voice.wrong(kind, None, detail);
                }
                found => {
                    late.is_missed_again |= found.is_ok();
                    place += 1;
                }
            }
        }
        if self.came > 0 {
            voice.observed("late_tiles", self.came as f64);
        }
    }

    /// Asks a last time for what was missed a moment ago, of a log of which no more is known than that, as soon as that is so of one.
    pub(super) async fn at_last<L: LogSource>(
        &mut self,
        reader: &AuditReader<L>,
        clock: &Rc<dyn Clock>,
        voice: &mut AuditVoice,
    ) {
        let first = self.waiting.iter().map(|late| late.since).min();
        if let (Some(since), None) = (first, reader.log().lags_at_most()) {
            clock.sleep_until(since.saturating_add(NEXT_LOOK)).await;
            self.ask_again(reader, voice).await;
        }
    }

    /// Tells what is not served at the end, but for what was missed a moment ago. Where the log contradicted itself, whoever was asked may have
    /// the other tree, and nothing is told but in a note.
    pub(super) fn end(self, has_contradicted: bool, voice: &mut AuditVoice) {
        let now = voice.now();
        for late in self.waiting {
            let seconds = now.since(late.since).as_secs_f64();
            if has_contradicted || !late.is_missed_again || now.since(late.since) < A_MOMENT {
                voice.note(&format!("{}, since {seconds:.1} s: too late in the run to tell", late.detail));
            } else {
                voice.wrong(late.kind, None, late.detail);
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

const MOST: usize = 4096;
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
