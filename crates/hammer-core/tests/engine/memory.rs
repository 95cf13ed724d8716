use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_measure::Nanos;

use crate::harness::{MILLI, SECOND, Simulated, answered, at_rate};

#[test]
fn the_operations_that_a_stall_piled_up_are_let_go_of_when_it_is_over() {
    let server = Counting { stall: (SECOND * 2, SECOND * 4), ..Counting::default() };
    let live = server.live_at.clone();
    let mut run = Simulated::measuring(SECOND * 8);
    run.supply.operations = 64;
    run.run(server, at_rate(1_000.0, 100, 5_000));
    let live = live.lock().unwrap();
    assert!(live.values().max() > Some(&1_900), "{:?}", live.values().max());
    let last = live.last_key_value().map(|(_, live)| *live);
    assert!(last < Some(64 + 100 + 300), "{last:?} operations are kept");
}

/// A server that stalls once and notes, when it is asked, how many operations there are.
#[derive(Default)]
struct Counting {
    stall: (Nanos, Nanos),
    live: Arc<AtomicUsize>,
    live_at: Arc<Mutex<BTreeMap<u64, usize>>>,
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Workload for Counting {
    type Op = Counted;
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("counted", true)]
    }

    fn preparation(&self) -> Preparation {
        Preparation::Ahead
    }

    fn prepare(&self, (): &mut (), _seq: u64, reuse: Option<Counted>) -> Counted {
        reuse.unwrap_or_else(|| {
            self.live.fetch_add(1, Ordering::Relaxed);
            Counted(self.live.clone())
        })
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(
        &self,
        clock: &Self::Session,
        (): &(),
        _op: &mut Counted,
        record: &OperationRecord,
    ) -> Ended {
        let sent = clock.now();
        let (from, to) = self.stall;
        clock.sleep_until(if (from..to).contains(&sent) { to } else { sent + MILLI }).await;
        self.live_at.lock().unwrap().insert(record.seq(), self.live.load(Ordering::Relaxed));
        answered(record.exchange(), sent, clock.now());
        Ended::accepted(200)
    }
}
