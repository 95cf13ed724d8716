//! The body of an answer: at hand whole, or as it comes.

use std::{
    convert::Infallible,
    num::NonZeroUsize,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// The bytes of an answer, and what comes behind them: trailers, or more bytes.
#[derive(Debug, Default)]
pub struct AnswerBody {
    /// None once they are sent, or where there are none.
    bytes: Option<Bytes>,
    /// Most bytes of a frame, where the length is told by none of the headers.
    piece: Option<NonZeroUsize>,
    trailers: Option<Box<HeaderMap>>,
    /// What follows, until nobody sends any more.
    more: Option<mpsc::Receiver<Bytes>>,
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

    /// Bytes as they come, until nobody sends any more: a stream of events, for one. Who sends waits while a client reads none.
    #[must_use]
    pub fn as_it_comes(more: mpsc::Receiver<Bytes>) -> Self {
        Self { more: Some(more), ..Self::default() }
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
        Self { bytes: (!bytes.is_empty()).then_some(bytes), ..Self::default() }
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
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(more) = &mut self.more {
            return more.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))));
        }
        let bytes = self.next_bytes().map(Frame::data);
        let frame = bytes.or_else(|| self.trailers.take().map(|trailers| Frame::trailers(*trailers)));
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && self.trailers.is_none() && self.more.is_none()
    }

    /// Unknown where something follows, so that no `content-length` promises that the bytes are all, and where they come in pieces.
    fn size_hint(&self) -> SizeHint {
        match (&self.trailers, self.piece, &self.more) {
            (Some(_), ..) | (_, Some(_), _) | (.., Some(_)) => SizeHint::default(),
            (None, None, None) => {
                SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
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

    #[tokio::test]
    async fn a_body_as_it_comes_ends_when_nobody_sends_any_more() {
        let (send, more) = mpsc::channel(1);
        let mut body = AnswerBody::as_it_comes(more);
        assert!(!body.is_end_stream() && body.size_hint().exact().is_none());
        let sent = tokio::spawn(async move {
            for bytes in ["one", "two"] {
                send.send(Bytes::from_static(bytes.as_bytes())).await.unwrap();
            }
        });
        let mut all = Vec::new();
        while let Some(frame) = body.frame().await {
            all.push(frame.unwrap().into_data().unwrap());
        }
        sent.await.unwrap();
        assert_eq!(all, ["one", "two"]);
    }
}
