use hammer_measure::Nanos;
use hammer_tlog::logs::tile::TileId;

use super::voice::AuditVoice;
use crate::reader::{AuditReader, ServedTile};
use crate::source::LogSource;

/// Tiles that were not served when they were asked for, of a log one of whose servers may lag behind another: who answered for a tile need
/// not be who answered for its checkpoint, though both stand behind one URL. They are asked for again, and told where they stay away.
#[derive(Default)]
pub(super) struct LateTiles {
    waiting: Vec<LateTile>,
    /// How many came in the end.
    came: u64,
}

struct LateTile {
    tile: TileId,
    since: Nanos,
    kind: &'static str,
    detail: String,
}

impl LateTiles {
    /// Takes that a tile was not served at `now`; gives it back where there is no room for another one.
    pub(super) fn wait_for(
        &mut self,
        tile: TileId,
        (kind, detail): (&'static str, String),
        now: Nanos,
    ) -> Option<(&'static str, String)> {
        if self.waiting.iter().any(|late| late.tile == tile) {
            return None;
        }
        if self.waiting.len() >= MOST {
            return Some((kind, detail));
        }
        self.waiting.push(LateTile { tile, since: now, kind, detail });
        None
    }

    /// Asks once more for the tiles that are not served since `patience`, or for all once no more load comes, and tells those that stay
    /// away for so long.
    pub(super) async fn ask_again<L: LogSource>(
        &mut self,
        reader: &AuditReader<L>,
        patience: Nanos,
        voice: &mut AuditVoice,
    ) {
        let is_judging = voice.is_judging();
        let mut place = 0;
        // Each stays where it is while it is asked for: a round may be cut off there.
        while let Some(late) = self.waiting.get(place) {
            let is_over = voice.now().since(late.since) >= patience;
            if !is_judging && !is_over {
                place += 1;
                continue;
            }
            // In the place of a partial one the full one is as good (C2SP tlog-tiles).
            let (found, went) = reader.tiles(&[late.tile, late.tile.full()]).await;
            if found.iter().any(|(_, found)| matches!(found, ServedTile::Bytes(_))) {
                self.waiting.remove(place);
                self.came += 1;
            } else if went.is_ok() && is_over {
                let late = self.waiting.remove(place);
                voice.wrong(late.kind, None, late.detail);
            } else {
                place += 1;
            }
        }
        if self.came > 0 {
            voice.observed("late_tiles", self.came as f64);
        }
    }

    /// Tells what is not served at the end, but for what was missed a moment ago. Where the log contradicted itself, whoever was asked may have
    /// the other tree, and nothing is told but in a note.
    pub(super) fn end(self, has_contradicted: bool, voice: &mut AuditVoice) {
        let now = voice.now();
        for late in self.waiting {
            let seconds = now.since(late.since).as_secs_f64();
            if has_contradicted || now.since(late.since) < A_MOMENT {
                voice.note(&format!("{}, since {seconds:.1} s: too late in the run to tell", late.detail));
            } else {
                voice.wrong(late.kind, None, late.detail);
            }
        }
        if self.came > 0 {
            voice.note(&format!("{} tiles came later than the checkpoint that covers them", self.came));
        }
    }
}

const MOST: usize = 64;
/// Less than servers of one log lag behind each other.
const A_MOMENT: Nanos = Nanos::from_secs(2);
