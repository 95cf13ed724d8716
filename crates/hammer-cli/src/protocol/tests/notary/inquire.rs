//! An inquiry: the notary is asked about an act, or about what it never answers.

use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig};
use hammer_net::{Answer, Request};

pub(super) struct Inquire {
    pub(super) service: ServiceConfig,
    /// What it is about, as the first part of a path.
    pub(super) about: &'static str,
}

/// An inquiry's number, and room for its answer.
pub(super) struct Inquiry {
    seq: u64,
    answer: Answer,
}

impl Workload for Inquire {
    type Op = Inquiry;
    type Session = ServiceClient;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let spec = SeriesSpec::new;
        vec![spec("flow", true), spec("act", false)]
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Inquiry>) -> Inquiry {
        Inquiry { seq, answer: reuse.map(|reuse| reuse.answer).unwrap_or_default() }
    }

    async fn open(&self, context: ShardContext) -> Result<ServiceClient, FatalError> {
        Ok(self.service.open(&context).await?)
    }

    async fn execute(
        &self,
        service: &ServiceClient,
        (): &(),
        op: &mut Inquiry,
        record: &OperationRecord,
    ) -> Ended {
        let Ok(path) = service.path(&format!("/{}/{}", self.about, op.seq)) else {
            return Ended::of_status(400);
        };
        let mut step = record.step(1);
        match service.send(&mut step, &Request::get(path), &mut op.answer).await {
            Ok(()) => Ended::of_status(op.answer.status.as_u16()),
            Err(ended) => ended,
        }
    }
}
