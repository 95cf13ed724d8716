//! What is signed here is accepted elsewhere, and what is accepted here is accepted elsewhere.

mod signing;
mod verifying;
