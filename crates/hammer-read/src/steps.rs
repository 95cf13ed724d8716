use std::rc::Rc;

use hammer_audit::LogClient;
use hammer_core::record::StepGuard;
use hammer_core::runtime::Clock;
use hammer_core::workload::Ended;
use hammer_exchange::{exchange, expect_ok};
use hammer_net::Answer;
use hammer_tlog::logs::tile::TileId;
use http::StatusCode;

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

    /// Reads what is at `path`, which starts with `/`; the answer may be compressed where that is said.
    ///
    /// # Errors
    /// How the step ends, unless by a 200.
    pub async fn get(
        &self,
        (path, compressed): (&str, bool),
        answer: &mut Answer,
        mut step: StepGuard<'_>,
    ) -> Result<(), Ended> {
        let get = async |answer: &mut Answer| match compressed {
            true => self.client.get_compressed(path, answer).await,
            false => self.client.get(path, answer).await,
        };
        exchange(&mut step, answer, self.clock.as_ref(), get).await?;
        expect_ok(&mut step, answer)
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
        let ended = self.get((&format!("/{tile}"), compressed), answer, start()).await;
        if answer.status != StatusCode::NOT_FOUND || tile.is_full() {
            return ended;
        }
        self.get((&format!("/{}", tile.full()), compressed), answer, start()).await
    }
}
