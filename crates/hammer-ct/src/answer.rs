//! From net's words to the engine's.

use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, Exchange, ShardContext};
use hammer_net::{Answer, Client, ClientConfig, ConfigError, Failure};

/// What an answer, or a failure to get one, was on the wire.
pub(crate) fn exchange(answer: &Answer, clock: &dyn Clock) -> Exchange {
    Exchange {
        sent: answer.wire.sent,
        done: answer.wire.done.unwrap_or_else(|| clock.now()),
        bytes_out: answer.bytes_out,
        bytes_in: answer.bytes_in,
        retried: answer.retried_idle_close,
    }
}

pub(crate) fn failed(failure: &Failure) -> Ended {
    Ended { outcome: failure.kind.outcome(), detail: failure.kind.into() }
}

/// A shard's client, with its share of the run's connections, and `warm_up` of the run's established.
pub(crate) async fn open(
    mut config: ClientConfig,
    warm_up: usize,
    context: &ShardContext,
) -> Result<Client, ConfigError> {
    config.connections = share_of(config.connections, context).max(1);
    let warm_up = share_of(warm_up, context).min(context.in_flight);
    let client = Client::new(config, context.clock.clone())?;
    // Whoever does not answer now will not answer the first operation either, and that is counted.
    let _ = client.warm_up(warm_up).await;
    Ok(client)
}

/// This shard's part of `whole`.
fn share_of(whole: usize, context: &ShardContext) -> usize {
    whole / context.shards + usize::from(context.shard < whole % context.shards)
}
