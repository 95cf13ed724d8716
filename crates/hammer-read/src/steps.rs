use std::rc::Rc;

use hammer_audit::{AnswerBound, LogClient, LogRequest};
use hammer_core::record::StepGuard;
use hammer_core::runtime::Clock;
use hammer_core::workload::Ended;
use hammer_exchange::{exchange, expect_ok, secrets_of_bearer};
use hammer_measure::{Nanos, Outcome};
use hammer_net::Answer;
use hammer_tlog::logs::tile::{Level, TileId};
use http::StatusCode;

use crate::support::Lack;

/// What reads a log on a shard, each request a step of an operation.
pub struct LogSteps {
    client: LogClient,
    clock: Rc<dyn Clock>,
}

impl LogSteps {
    /// Reads by that client.
    pub fn new(client: LogClient, clock: Rc<dyn Clock>) -> Self {
        Self { client, clock }
    }

    /// Reads what is asked for.
    ///
    /// # Errors
    /// How the step ends, unless by a 200.
    pub async fn get(
        &self,
        asked: LogRequest<'_>,
        answer: &mut Answer,
        step: StepGuard<'_>,
    ) -> Result<(), Ended> {
        self.get_from(None, asked, answer, step).await
    }

    /// Reads beside an operation as [`LogSteps::get`] does; where that failed for then or was refused, again a second later, twice at most, of the
    /// next server where there are several: one that lags behind has not yet what another one's head leads to.
    ///
    /// # Errors
    /// How the last step ends, unless by a 200.
    pub(crate) async fn get_or_later<'a>(
        &self,
        asked: LogRequest<'_>,
        answer: &mut Answer,
        start: impl Fn() -> StepGuard<'a>,
    ) -> Result<(), Ended> {
        let mut ended = self.get_from(None, asked, answer, start()).await;
        for _ in 0..LATER_LOOKS {
            let is_behind = matches!(ended, Err(Ended { outcome: Outcome::Refused, .. }));
            let Some(server) = self.server_later(ended, is_behind, answer).await else { break };
            ended = self.get_from(server, asked, answer, start()).await;
        }
        ended
    }

    /// Waits after a read that failed for then: where it is asked for again, which is where its turn has it unless a server is named. None where
    /// the answer stands.
    async fn server_later(
        &self,
        ended: Result<(), Ended>,
        is_behind: bool,
        answer: &Answer,
    ) -> Option<Option<usize>> {
        let is_for_then = |ended: Ended| {
            use Outcome::{Malformed, Pushback, ServerError, TimedOut, Unreachable};
            matches!(ended.outcome, Malformed | Pushback | ServerError | TimedOut | Unreachable)
        };
        ended.err().filter(|ended| is_behind || is_for_then(*ended))?;
        self.clock.sleep_until(self.clock.now().saturating_add(NEXT_LOOK)).await;
        let (servers, failed) = (self.client.servers().await.unwrap_or_default(), answer.endpoint);
        let place = servers.iter().position(|server| Some(*server) == failed);
        Some(place.and_then(|place| servers.get((place + 1) % servers.len()).copied()))
    }

    async fn get_from(
        &self,
        server: Option<usize>,
        asked: LogRequest<'_>,
        answer: &mut Answer,
        mut step: StepGuard<'_>,
    ) -> Result<(), Ended> {
        self.exchange(server, asked, answer, (&mut step, |_| false)).await?;
        expect_ok(&mut step, answer)
    }

    /// Asks, where the caller `judges` an answer of such a status.
    async fn exchange(
        &self,
        server: Option<usize>,
        asked: LogRequest<'_>,
        answer: &mut Answer,
        (step, judges): (&mut StepGuard<'_>, impl FnOnce(u16) -> bool),
    ) -> Result<(), Ended> {
        let get = async |answer: &mut Answer| self.client.get_from(server, asked, answer).await;
        let secrets = || secrets_of_bearer(self.client.bearer());
        exchange(step, answer, self.clock.as_ref(), (secrets, judges), get).await
    }

    /// Whether there is another server to ask at once for what one has not.
    fn are_several(&self) -> bool {
        self.client.are_several()
    }

    /// Reads a tile that one of the log's servers has not (404) at each of them, one after another, since that one may lag behind the
    /// others; later once more, `looks` times at most, since those behind one URL may as well.
    ///
    /// # Errors
    /// When none has it, or it cannot be told since one of them neither has it nor says that it has not, nor at one more look.
    pub(crate) async fn tile_elsewhere<'a>(
        &self,
        (tile, looks): ((TileId, bool), u32),
        answer: &mut Answer,
        start: impl Fn() -> StepGuard<'a>,
    ) -> Result<(), Lack> {
        let mut found = match self.are_several() {
            true => self.tile_of_any(tile, answer, &start).await,
            false => Err(Lack::Missing(tile.0)),
        };
        for look in 0..=looks {
            match found {
                Ok(()) => break,
                Err(Lack::Refused) => {}
                Err(_) if look < looks => {}
                Err(_) => break,
            }
            self.clock.sleep_until(self.clock.now().saturating_add(NEXT_LOOK)).await;
            // Before it is told: of two behind one URL the one that has it may not have been asked for it at any look.
            let times = if look + 1 >= looks { MOST_AT_LAST } else { 1 };
            for _ in 0..times {
                found = self.tile_of_any(tile, answer, &start).await;
                if !matches!(found, Err(Lack::Missing(_))) {
                    break;
                }
            }
        }
        found
    }

    /// Reads a tile at each of the log's servers until one has it.
    ///
    /// # Errors
    /// When none has it, or it cannot be told.
    pub(crate) async fn tile_of_any<'a>(
        &self,
        (tile, compressed): (TileId, bool),
        answer: &mut Answer,
        start: &impl Fn() -> StepGuard<'a>,
    ) -> Result<(), Lack> {
        let servers = self.client.servers().await.map_err(|_| Lack::Refused)?;
        let mut lack = Lack::Missing(tile);
        for server in servers {
            // Of two behind one URL that answer by turns one may have dropped the partial tile, and the other lag behind the full one.
            let again = (!tile.is_full()).then(|| tile.full());
            for asked in std::iter::once(tile).chain(again) {
                let ended = self.tile_from(Some(server), (asked, compressed), answer, start).await;
                match (ended, answer.status) {
                    (Ok(()), _) => return Ok(()),
                    (Err(_), StatusCode::NOT_FOUND) => {}
                    (Err(_), _) => lack = Lack::Refused,
                }
            }
        }
        Err(lack)
    }

    /// Reads a tile beside an operation, as [`LogSteps::get_or_later`] reads.
    ///
    /// # Errors
    /// How the last step ends, unless by a 200.
    pub(crate) async fn tile_or_later<'a>(
        &self,
        tile: (TileId, bool),
        answer: &mut Answer,
        start: impl Fn() -> StepGuard<'a>,
    ) -> Result<(), Ended> {
        let mut ended = self.tile_from(None, tile, answer, &start).await;
        for _ in 0..LATER_LOOKS {
            let Some(server) = self.server_later(ended, false, answer).await else { break };
            ended = self.tile_from(server, tile, answer, &start).await;
        }
        ended
    }

    /// Reads a tile, as steps that `start` starts; the full one where the partial one is no longer there (C2SP tlog-tiles).
    ///
    /// # Errors
    /// How the last step ends, unless by a 200.
    pub async fn tile<'a>(
        &self,
        (tile, compressed): (TileId, bool),
        answer: &mut Answer,
        start: impl Fn() -> StepGuard<'a>,
    ) -> Result<(), Ended> {
        self.tile_from(None, (tile, compressed), answer, &start).await
    }

    async fn tile_from<'a>(
        &self,
        server: Option<usize>,
        (tile, compressed): (TileId, bool),
        answer: &mut Answer,
        start: &impl Fn() -> StepGuard<'a>,
    ) -> Result<(), Ended> {
        // How long entries may be is left to the plan: many are read at once.
        let bound = matches!(tile.level, Level::Hashes(_)).then_some(AnswerBound::HASH_TILE);
        if !tile.is_full() {
            let path = format!("/{tile}");
            let asked = LogRequest { path: &path, compressed, bound };
            let mut step = start();
            self.exchange(server, asked, answer, (&mut step, |status| status == NOT_FOUND)).await?;
            if answer.status != StatusCode::NOT_FOUND {
                return expect_ok(&mut step, answer);
            }
            // A log may do so once the full tile is there, which says whether it did well.
            step.end(Ended::accepted(NOT_FOUND));
        }
        let path = format!("/{}", tile.full());
        self.get_from(server, LogRequest { path: &path, compressed, bound }, answer, start()).await
    }
}

const NOT_FOUND: u16 = 404;
/// Looks for what was not there at first, or could not be told.
pub(crate) const LATER_LOOKS: u32 = 2;
/// How often a tile is asked for in the last look.
const MOST_AT_LAST: u32 = 4;
/// How long after a look the next one is.
pub(crate) const NEXT_LOOK: Nanos = Nanos::from_secs(1);
