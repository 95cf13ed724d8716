use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::lock::Mutex;
use hammer_tlog::logs::tile::TileId;

use crate::support::Lack;

/// What whoever waits for a tile has found, for those who came after.
pub(crate) type TileWait = Mutex<Option<Result<(), Lack>>>;

/// The tiles that somebody waits for on a shard.
#[derive(Debug, Default)]
pub(crate) struct TileWaits {
    of: RefCell<BTreeMap<TileId, Rc<TileWait>>>,
}

impl TileWaits {
    /// The wait for that tile: of whoever waits already, or a new one.
    pub(crate) fn of(&self, tile: TileId) -> Rc<TileWait> {
        self.of.borrow_mut().entry(tile).or_default().clone()
    }

    /// Has whoever comes now wait anew.
    pub(crate) fn end(&self, tile: TileId) {
        self.of.borrow_mut().remove(&tile);
    }
}
