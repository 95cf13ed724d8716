//! What happened, and the words to tell it: instants, fates, promises, histograms, snapshots, health, thresholds
//! and the events that reporters receive. It never reads a clock, does I/O, or knows an async runtime or a protocol.

pub mod command;
pub mod connection;
pub mod credential;
pub mod event;
pub mod group_watch;
pub mod headline;
pub mod health;
pub mod histogram;
pub mod interval_log;
pub mod masked;
mod obeyed;
pub mod octaves;
pub mod operation_sample;
pub mod outcome;
pub mod part;
pub mod peer_text;
pub mod peer_watch;
pub mod promise;
pub mod recorder;
pub mod series;
pub mod series_samples;
pub mod snapshot;
pub mod threshold;
pub mod timing;

#[cfg(test)]
mod fixture;

pub use command::{Command, CommandId};
pub use connection::{
    ConnectionCounts, ConnectionLog, ConnectionRecord, OpenConnection, PeerCounts, PeerExchange, PeerRecord,
    ServiceConnections, ServicePeer,
};
pub use event::{Reporter, RunEvent};
pub use histogram::{Distribution, Quantile, Summary};
pub use octaves::Octaves;
pub use operation_sample::{OperationSample, SampledWire, StepSample, Subject};
pub use outcome::{Detail, Fate, Outcome};
pub use peer_text::{peer_bytes, peer_start, peer_text, shown, shown_lines};
pub use promise::Ledger;
pub use recorder::Recorder;
pub use series::{Phase, SeriesInfo};
pub use series_samples::{SampleCandidate, SampleSizes, SeriesSamples};
pub use snapshot::Snapshot;
pub use timing::{Nanos, Now, Timing, WallNanos};
