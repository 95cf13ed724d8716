//! The body of an answer, which is at hand whole.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Body, Frame, SizeHint};

/// The bytes of an answer, and the trailers behind them, if there are any.
#[derive(Debug, Default)]
pub struct AnswerBody {
    /// None once they are sent, or where there are none.
    bytes: Option<Bytes>,
    trailers: Option<Box<HeaderMap>>,
}

impl AnswerBody {
    /// These bytes, and these trailers behind them. A client sees them over HTTP/2; over HTTP/1.1 they are left out, since hyper
    /// sends only those trailers that a header announces.
    #[must_use]
    pub fn with_trailers(bytes: impl Into<Bytes>, trailers: HeaderMap) -> Self {
        Self { trailers: Some(Box::new(trailers)), ..Self::from(bytes.into()) }
    }
}

impl From<Bytes> for AnswerBody {
    fn from(bytes: Bytes) -> Self {
        Self { bytes: (!bytes.is_empty()).then_some(bytes), trailers: None }
    }
}

impl From<Vec<u8>> for AnswerBody {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.bytes.take().map(Frame::data);
        let frame = bytes.or_else(|| self.trailers.take().map(|trailers| Frame::trailers(*trailers)));
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && self.trailers.is_none()
    }

    /// Unknown where trailers follow, so that no `content-length` promises that the bytes are all.
    fn size_hint(&self) -> SizeHint {
        match self.trailers {
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}
