//! One submission, in buffers that are used again for the next.

use std::fmt;

use bytes::Bytes;
use hammer_measure::Outcome;
use hammer_net::{Answer, Body, BodyBuffer, Request};
use hammer_synth::{Kind, Minted};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::uri::PathAndQuery;

use super::class::{Class, Invalid};
use super::reservoir::{Answered, Promised};
use crate::record::{self, Instants, Judged, NoSct, Stamp};

/// A chain with its request, the room for the answer and for the record of its promise.
pub struct SubmitOp {
    pub(super) minted: Minted,
    pub(super) request: Request,
    pub(super) answer: Answer,
    pub(super) record: Vec<u8>,
    /// Its number among those of its log.
    pub(super) seq: u64,
    pub(super) class: Class,
    /// What it is submitted as.
    pub(super) endpoint: Kind,
    /// What a duplicate is held against.
    first: Promised,
    /// The same bytes as the request's body, which borrows them.
    body: BodyBuffer,
}

impl Default for SubmitOp {
    fn default() -> Self {
        let mut request = Request::post(PathAndQuery::from_static("/"), Bytes::new());
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self {
            minted: Minted::new(),
            request,
            answer: Answer::new(),
            record: Vec::new(),
            seq: 0,
            class: Class::Fresh,
            endpoint: Kind::X509,
            first: Promised::default(),
            body: BodyBuffer::new(),
        }
    }
}

impl SubmitOp {
    /// The JSON that is sent; empty where that is known only once it is due.
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }

    /// The chain that is sent.
    pub fn chain(&self) -> &Minted {
        &self.minted
    }

    /// Writes the body of the chain.
    pub(super) fn encode(&mut self) {
        self.encode_with(|_| ());
    }

    /// Writes the body of the chain, altered.
    pub(super) fn encode_with(&mut self, alter: impl FnOnce(&mut Vec<u8>)) {
        self.endpoint = self.minted.kind();
        self.request.body = Body::empty();
        self.body.rewrite(|out| {
            self.minted.write_add_chain_body(out);
            alter(out);
        });
        self.request.body = self.body.body();
    }

    /// Becomes the submission of a chain that the log has answered.
    pub(super) fn repeat(&mut self, answered: &Answered) {
        self.minted.copy_from(&answered.chain);
        self.first.copy_from(&answered.promised);
    }

    /// Writes the record of the SCT that was received.
    pub(super) fn promise(&mut self, at: Instants) -> Result<Stamp, NoSct> {
        let first = (self.class == Class::Duplicate).then(|| self.first.of(self.minted.seq()));
        record::write(&mut self.record, at, &self.answer.body, (&self.minted, self.endpoint), first)
    }

    /// Writes the record of a 200 that is no SCT: what was `said` instead is kept, without what was secret of the request.
    pub(super) fn unreadable(&mut self, at: Instants, why: NoSct, said: &str) -> Result<(), NoSct> {
        let first = (self.class == Class::Duplicate).then(|| self.first.of(self.minted.seq()));
        record::write_unreadable(&mut self.record, at, said, why, first)
    }

    /// Writes the record of an answer that is judged by its status alone; whether this is one.
    pub(super) fn judge(&mut self) -> bool {
        let Class::Invalid(Invalid { kind, refuse: Some(refuse) }) = self.class else { return false };
        let status = self.answer.status.as_u16();
        let answered = status == 200 || Outcome::of_status(status) == Outcome::Refused && status >= 400;
        if answered {
            record::write_judged(&mut self.record, Judged { kind, refuse, status });
        }
        answered
    }

    /// Whether the log was sent something that an SCT can be for.
    pub(super) fn has_chain(&self) -> bool {
        !matches!(self.class, Class::Invalid(invalid) if !invalid.has_chain())
    }

    /// Forgets the chain.
    pub(super) fn clear(&mut self) {
        self.request.body = Body::empty();
        self.body.rewrite(|_| ());
    }

    pub(super) fn weight(&self) -> usize {
        size_of::<Self>()
            + self.minted.capacity()
            + self.body.capacity()
            + self.record.capacity()
            + self.answer.body.capacity()
    }
}

impl fmt::Debug for SubmitOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmitOp").field("seq", &self.minted.seq()).finish_non_exhaustive()
    }
}
