//! Workloads made of workloads: one kind of operation on several targets, and a mix of unlike kinds. Which part an operation
//! belongs to is a pure function of its sequence number, so parts keep what makes them reproducible; their series stand under
//! their names, and each promise is judged by the part that received it. Parts may be made of parts themselves.

mod mixed;
mod parts;
mod route;
mod routed;
mod verifier;
mod weighted;

pub use mixed::{Mixed, MixedOp, MixedPart, MixedSession};
pub use route::{InTurn, Route};
pub use routed::{Routed, RoutedOp, RoutedSession, RoutedUser};
pub use weighted::WeightedMix;
