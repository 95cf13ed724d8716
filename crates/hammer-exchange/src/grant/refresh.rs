//! Who keeps granted tokens fresh while a run lasts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::dispatch::Upkeep;
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::workload::{FatalError, ShardContext};
use hammer_measure::Nanos;
use hammer_net::{Answer, Request};
use hammer_oauth::{PoolSlot, TokenPool};

use super::endpoint::TokenEndpoint;
use super::first::{FirstTokens, granted};
use crate::service::{ServiceClient, ServiceConfig};
use crate::stock::{StockedToken, TokenStock};
use crate::wall::WallTime;

/// Asks for the tokens of a stock again before they are over.
#[derive(Debug)]
pub struct TokenRefresh {
    endpoint: TokenEndpoint,
    service: ServiceConfig,
    stock: Arc<TokenStock>,
    wall: WallTime,
    /// What the run starts with, until the shard has it that asks for the next.
    first: Mutex<Option<FirstTokens>>,
}

/// What the shard that asks has.
pub struct RefreshSession {
    client: ServiceClient,
    clock: Rc<dyn Clock>,
    request: Request,
    answer: RefCell<Answer>,
    pool: RefCell<TokenPool>,
    tokens: RefCell<Vec<StockedToken>>,
    /// What is asked for; where that was cut off, it is still here.
    asked: Cell<Option<PoolSlot>>,
}

impl TokenRefresh {
    /// Asks `endpoint` by `service` for what comes after the first tokens; all of them are in the stock, which is returned too.
    pub fn new(
        endpoint: TokenEndpoint,
        service: ServiceConfig,
        first: FirstTokens,
        wall: WallTime,
    ) -> (Self, Arc<TokenStock>) {
        let stock = TokenStock::new(first.tokens.clone());
        (Self { endpoint, service, stock: stock.clone(), wall, first: Mutex::new(Some(first)) }, stock)
    }
}

impl Upkeep for TokenRefresh {
    type Session = RefreshSession;

    fn series(&self) -> Vec<&'static str> {
        vec!["token"]
    }

    async fn open(&self, context: ShardContext) -> Result<RefreshSession, FatalError> {
        let client = self.service.open(&context).await?;
        let request = self.endpoint.http_request(client.path("")?);
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let FirstTokens { tokens, pool } = first.ok_or("find the tokens that the run starts with")?;
        Ok(RefreshSession {
            client,
            clock: context.clock,
            request,
            answer: RefCell::new(Answer::new()),
            pool: RefCell::new(pool),
            tokens: RefCell::new(tokens),
            asked: Cell::new(None),
        })
    }

    fn next_due(&self, session: &RefreshSession, now: Nanos) -> Option<Nanos> {
        let mut pool = session.pool.borrow_mut();
        if let Some(cut_off) = session.asked.take() {
            self.stock.hindered("the token endpoint did not answer in time");
            pool.failed(cut_off, self.wall.unix_seconds(now));
        }
        pool.next_due().map(|due| self.wall.instant_of(due))
    }

    async fn keep_up(&self, session: &RefreshSession, record: &OperationRecord) {
        let now = || self.wall.unix_seconds(session.clock.now());
        let Some(slot) = session.pool.borrow_mut().take_due(now()) else { return };
        session.asked.set(Some(slot));
        let mut answer = session.answer.take();
        let asked = {
            let mut step = record.step(TOKEN);
            let sent = session.client.send(&mut step, &session.request, &mut answer).await;
            // A request for a token is made of secrets, which whoever answers may repeat; what did not reach it cannot.
            if step.wire().sent.is_some() {
                step.says_nothing();
            }
            match sent {
                Ok(()) => self.endpoint.token(&answer, now()).map_err(|fault| {
                    step.ends(fault.ended());
                    fault.to_string()
                }),
                Err(ended) => Err(format!("reach the token endpoint: {}", ended.detail)),
            }
        };
        session.asked.set(None);
        session.answer.replace(answer);
        let mut pool = session.pool.borrow_mut();
        match asked {
            Ok(token) => {
                tracing::debug!(expires_at = token.expires_at, "a token was granted");
                pool.granted(slot, granted(&token), now());
                let mut tokens = session.tokens.borrow_mut();
                tokens[slot.0] = token;
                self.stock.replace(tokens.clone());
            }
            Err(trouble) => {
                tracing::warn!(%trouble, "no token was granted");
                self.stock.hindered(format!("failed to {trouble}"));
                pool.failed(slot, now());
            }
        }
    }
}

const TOKEN: usize = 0;
