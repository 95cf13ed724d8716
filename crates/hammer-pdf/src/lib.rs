//! PDF (ISO 32000-1) as far as a load of signatures needs it: documents that are made, of any length, by a key and a number; and the
//! signature in one that came back. What was sent is known, so that it is compared byte by byte, and what was appended to it is read
//! as tokens in bounded time, without a tree. Bytes alone: it knows neither CMS nor a service.
//!
//! Read in this order: [`document`], [`signed`].

pub mod document;
pub mod signed;
