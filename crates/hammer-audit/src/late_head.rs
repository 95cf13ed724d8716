//! A head whose tiles are not served yet.

use hammer_tlog::logs::follow::{Event, Follower, Head};

/// The first head since the tree grew of which a tile was not served. It is proved before newer ones: of a log that grows faster than its tiles
/// come, each new head lacks one of its own.
#[derive(Default)]
pub(crate) struct LateHead(Option<Head>);

impl LateHead {
    /// Takes what a follower tells.
    pub(crate) fn follow(&mut self, event: &Event) {
        match event {
            Event::MissingTile { head, .. } => {
                self.0.get_or_insert_with(|| head.clone());
            }
            Event::Grew { to: head, .. } | Event::First { head } => {
                self.0.take_if(|late| late.size <= head.size);
            }
            _ => {}
        }
    }

    /// Feeds it to the follower once more, unless that has something to prove; says whether it did.
    pub(crate) fn feed(&self, follower: &mut Follower) -> bool {
        let size = follower.trusted().map_or(0, |trusted| trusted.size);
        let late = self.0.as_ref().filter(|late| late.size > size && follower.behind() == 0);
        late.cloned().map(|late| follower.head(late)).is_some()
    }
}
