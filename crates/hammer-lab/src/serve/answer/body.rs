//! The body of an answer, which is at hand whole.

use std::{
    convert::Infallible,
    num::NonZeroUsize,
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
    /// Most bytes of a frame, where the length is told by none of the headers.
    piece: Option<NonZeroUsize>,
    trailers: Option<Box<HeaderMap>>,
}

impl AnswerBody {
    /// These bytes, and these trailers behind them. A client sees them over HTTP/2; over HTTP/1.1 they are left out, since hyper
    /// sends only those trailers that a header announces.
    #[must_use]
    pub fn with_trailers(bytes: impl Into<Bytes>, trailers: HeaderMap) -> Self {
        Self { trailers: Some(Box::new(trailers)), ..Self::from(bytes.into()) }
    }

    /// These bytes in pieces of at most so many, without a length ahead of them: chunks of HTTP/1.1 (RFC 9112 section 7.1).
    #[must_use]
    pub fn in_pieces(bytes: impl Into<Bytes>, most: NonZeroUsize) -> Self {
        Self { piece: Some(most), ..Self::from(bytes.into()) }
    }
}

impl AnswerBody {
    fn next_bytes(&mut self) -> Option<Bytes> {
        let mut bytes = self.bytes.take()?;
        if let Some(piece) = self.piece.filter(|piece| piece.get() < bytes.len()) {
            let first = bytes.split_to(piece.get());
            self.bytes = Some(bytes);
            return Some(first);
        }
        Some(bytes)
    }
}

impl From<Bytes> for AnswerBody {
    fn from(bytes: Bytes) -> Self {
        Self { bytes: (!bytes.is_empty()).then_some(bytes), piece: None, trailers: None }
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
        let bytes = self.next_bytes().map(Frame::data);
        let frame = bytes.or_else(|| self.trailers.take().map(|trailers| Frame::trailers(*trailers)));
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && self.trailers.is_none()
    }

    /// Unknown where trailers follow, so that no `content-length` promises that the bytes are all, and where they come in pieces.
    fn size_hint(&self) -> SizeHint {
        match (&self.trailers, self.piece) {
            (Some(_), _) | (None, Some(_)) => SizeHint::default(),
            (None, None) => SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn a_body_in_pieces_tells_no_length_and_is_whole() {
        let mut body = AnswerBody::in_pieces(&b"0123456789"[..], NonZeroUsize::new(4).unwrap());
        assert_eq!(body.size_hint().exact(), None);
        let mut pieces = Vec::new();
        while let Some(frame) = body.frame().await {
            pieces.push(frame.unwrap().into_data().unwrap());
        }
        assert_eq!(pieces, [&b"0123"[..], b"4567", b"89"]);
        assert!(body.is_end_stream());
        assert_eq!(AnswerBody::from(Bytes::from_static(b"0123")).size_hint().exact(), Some(4));
    }
}
