//! What clients note of their connections, by service, over shards and intervals.

use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_measure::{ConnectionCounts, ConnectionLog, OpenConnection};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::harness::{MILLI, SECOND, Simulated, at_rate};

/// A client of two services: it keeps its connection to one, and dials the other for each operation.
struct TwoServices;

struct Dialled {
    kept: ConnectionLog,
    _connection: OpenConnection,
    dialled: ConnectionLog,
}

impl Workload for TwoServices {
    type Op = ();
    type Session = Dialled;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("both", true)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, context: ShardContext) -> Result<Dialled, FatalError> {
        let connection = context.connections("kept").dialled(PEER, MILLI);
        let (kept, dialled) = (context.connections("kept"), context.connections("dialled"));
        Ok(Dialled { kept, _connection: connection, dialled })
    }

    async fn execute(&self, session: &Dialled, (): &(), (): &mut (), _record: &OperationRecord) -> Ended {
        session.kept.reused();
        drop(session.dialled.dialled(PEER, MILLI));
        Ended::accepted(200)
    }
}

#[test]
fn a_service_is_told_of_as_a_whole_over_shards_and_intervals_and_what_was_dialled_before_the_start_is_in_it()
{
    let total = Simulated::measuring(SECOND * 3).over(2).run(TwoServices, at_rate(100.0, 10, 10));
    let found: Vec<_> = total
        .connections
        .iter()
        .map(|of| (of.service.as_str(), of.record.counts, of.record.dial.count()))
        .collect();
    let dialled = ConnectionCounts { dials: 300, most_open: 2, ..ConnectionCounts::default() };
    let kept = ConnectionCounts { dials: 2, most_open: 2, reused: 300, ..ConnectionCounts::default() };
    assert_eq!(found, [("dialled", dialled, 300), ("kept", kept, 2)]);
}

const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 80);
