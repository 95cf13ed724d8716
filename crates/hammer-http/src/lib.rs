//! Load on any HTTP endpoint: requests or unary calls of gRPC, one kind of them or several by weight, alone or in sequences in which one
//! goes on with what another was answered. What they are filled with follows from a seed and the operation's number; each answer is judged by its
//! status and, where the plan says so, by its headers and its body. It mints nothing, and makes no promise out of an answer.

mod error;
mod extraction;
mod filling;
mod judgement;
mod picks;
mod plan;
mod pool;
mod request_form;
mod step_think;
mod template;
mod workload;

pub use error::{HttpError, ValueFault};
pub use plan::{
    DrawPlan, Extraction, FlowPlan, GrpcMethod, HeaderKey, HeaderText, HotValues, HttpFlowsPlan, HttpPlan,
    PathText, RequestMethod, StepPlan, UnusableHeader, ValueOrder, ValuePlan, split_url,
};
pub use workload::{Destination, HttpOp, HttpSession, HttpWorkload};
