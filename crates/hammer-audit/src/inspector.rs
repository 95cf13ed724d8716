//! A log that is read once, without load and patiently.

use std::rc::Rc;
use std::time::Duration;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_net::ConfigError;
use hammer_tlog::logs::follow::Head;
use hammer_tlog::logs::tile::TileId;

use crate::answer_bound::AnswerBound;
use crate::place::LogPlace;
use crate::reader::AuditReader;
use crate::served_tile::ServedTile;
use crate::source::{LogQuery, LogSource};
use crate::trouble::Trouble;

/// Reads a log without load, once, and patiently: what failed is tried again, since some logs bound what one client may read. It
/// lives on one thread, within a `LocalSet`.
pub struct LogInspector<L> {
    reader: AuditReader<L>,
    clock: Rc<dyn Clock>,
    /// Whether it reads files, which nobody serves late.
    is_folder: bool,
    /// What is left of the patience with tiles, of which none came.
    patience: Patience,
    /// How often what was not served was waited for, and stayed away.
    in_vain: u32,
}

impl<L: LogSource> LogInspector<L> {
    /// An inspector of `log`, as it is read at `place`.
    ///
    /// # Errors
    /// Those of [`hammer_net::Client::new`].
    pub fn new(log: L, place: LogPlace, clock: Rc<dyn Clock>) -> Result<Self, ConfigError> {
        let is_folder = matches!(place, LogPlace::Folder(_));
        let reader = AuditReader::new(log, place, clock.clone())?;
        Ok(Self { reader, clock, is_folder, patience: Patience::new(), in_vain: 0 })
    }

    /// The log.
    pub fn log(&self) -> &L {
        self.reader.log()
    }

    /// How many requests were sent so far.
    pub fn requests(&self) -> u64 {
        self.reader.requests()
    }

    /// How many bytes were read so far.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// The head now, verified.
    ///
    /// # Errors
    /// When none is served, or it is not the log's ([`Trouble::breach_kind`]).
    pub async fn head(&mut self) -> Result<Head, Trouble> {
        let mut patience = Patience::new();
        loop {
            match self.reader.head().await {
                Err(why) if patience.is_left(&why) => patience.wait(&self.clock).await,
                ended => return ended,
            }
        }
    }

    /// The answer to a query.
    ///
    /// # Errors
    /// When there is none that can be read.
    pub async fn ask<T>(&self, query: &LogQuery<T>) -> Result<T, Trouble> {
        self.patiently(async |reader| reader.ask(query).await).await
    }

    /// What `read` reads, tried several times.
    ///
    /// # Errors
    /// The last one.
    pub async fn patiently<T>(
        &self,
        read: impl AsyncFn(&AuditReader<L>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut patience = Patience::new();
        loop {
            match read(&self.reader).await {
                Err(why) if patience.is_left(&why) => patience.wait(&self.clock).await,
                ended => return ended,
            }
        }
    }

    /// Some of these tiles, at least one of them.
    ///
    /// # Errors
    /// When none came, tried several times, or it cannot be told at a second look whether what was not served still is not.
    pub async fn tiles(&mut self, ids: &[TileId]) -> Result<Vec<(TileId, ServedTile)>, Trouble> {
        loop {
            let (tiles, went) = self.reader.tiles(ids).await;
            match went {
                Err(why) if tiles.is_empty() && !self.patience.is_left(&why) => return Err(why),
                Err(_) => self.patience.wait(&self.clock).await,
                Ok(()) => self.patience = Patience::new(),
            }
            if !tiles.is_empty() || ids.is_empty() {
                return self.at_second_look(tiles).await;
            }
        }
    }

    /// What is served at a path; none where nothing is, at a second look either.
    ///
    /// # Errors
    /// When it cannot be told, tried several times.
    pub async fn found(&mut self, path: &str, bound: AnswerBound) -> Result<Option<Vec<u8>>, Trouble> {
        let read = async |reader: &AuditReader<L>| reader.found(path, bound).await;
        let found = self.patiently(read).await?;
        if found.is_some() || !self.looks_again() {
            return Ok(found);
        }
        self.next_look().await;
        let found = self.patiently(read).await?;
        self.in_vain += u32::from(found.is_none());
        Ok(found)
    }

    /// These tiles, of which those that were not served are asked for once more: who answered for one may lag behind who answered for the head.
    async fn at_second_look(
        &mut self,
        mut tiles: Vec<(TileId, ServedTile)>,
    ) -> Result<Vec<(TileId, ServedTile)>, Trouble> {
        if self.in_vain >= IN_VAIN || self.fill(&mut tiles).await? == 0 || self.is_folder {
            return Ok(tiles);
        }
        self.next_look().await;
        self.in_vain += u32::from(self.fill(&mut tiles).await? > 0);
        Ok(tiles)
    }

    fn looks_again(&self) -> bool {
        !self.is_folder && self.in_vain < IN_VAIN
    }

    /// Reads those of the tiles that were not served; how many still are not.
    async fn fill(&self, tiles: &mut [(TileId, ServedTile)]) -> Result<usize, Trouble> {
        let mut missing = 0;
        for (tile, found) in tiles {
            if matches!(found, ServedTile::Bytes(_)) {
                continue;
            }
            // Who fails to answer does not say that it has none.
            match self.patiently(async |reader| reader.by_now(*tile).await).await? {
                Some(bytes) => *found = ServedTile::Bytes(bytes),
                None => missing += 1,
            }
        }
        Ok(missing)
    }

    async fn next_look(&self) {
        self.clock.sleep_until(self.clock.now().saturating_add(NEXT_LOOK)).await;
    }
}

/// How often what failed is tried again, later each time.
struct Patience {
    tries: u32,
}

impl Patience {
    fn new() -> Self {
        Self { tries: 0 }
    }

    fn is_left(&mut self, why: &Trouble) -> bool {
        self.tries += 1;
        self.tries < TRIES && why.breach_kind().is_none()
    }

    async fn wait(&self, clock: &Rc<dyn Clock>) {
        let wait = Duration::from_millis(100) * (1 << self.tries);
        clock.sleep_until(clock.now().saturating_add(wait.into())).await;
    }
}

const TRIES: u32 = 6;
/// Looks that follow each other faster than that are one.
pub(crate) const NEXT_LOOK: Nanos = Nanos::from_secs(1);
/// Of a log that serves little, what is not served is no longer waited for after that.
const IN_VAIN: u32 = 8;
