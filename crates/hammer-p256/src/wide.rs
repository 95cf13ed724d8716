//! Residues eight abreast, for processors with AVX-512 IFMA: five limbs of 52 bits, times 2^260 in Montgomery's domain,
//! each limb of the eight in one register. What is found out at run time is a token, [`Ifma`], and every value holds it.
//!
//! All of it has to be inlined into what [`Ifma::vectorize`] calls, where the instructions are allowed: a function that is
//! not, and be it a closure, would call another for each instruction. So there are loops where `map` would do.

mod element;
mod ifma;
mod inversion;
mod jacobian;
mod once;
mod pairs;
mod point;
mod scalars;
mod walk;
mod window;

pub(crate) use ifma::{Ifma, LANES};
pub(crate) use jacobian::sum;
pub(crate) use once::{OnceSum, OnceVerdicts, have_x_once};
pub(crate) use pairs::{Pairs, Sums};
pub(crate) use scalars::Inverses;
pub(crate) use walk::{Walk, WideMultiples};
pub(crate) use window::fill_window;
