//! Load on any HTTP endpoint: one request or unary call of gRPC, built once and sent again and again, whose answer is judged by its
//! status and, where the plan says so, by its body. It never mints what it sends, and makes no promise out of an answer.

mod error;
mod judgement;
mod plan;
mod workload;

pub use error::HttpError;
pub use plan::{GrpcMethod, HeaderKey, HeaderText, HttpPlan, RequestMethod, UnusableHeader, split_url};
pub use workload::{HttpOp, HttpSession, HttpWorkload};
