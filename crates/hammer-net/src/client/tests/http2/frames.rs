//! A server of HTTP/2 that sends the frames that a test wants (RFC 9113, section 6).

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const GOAWAY: u8 = 7;

pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

pub(super) const INTERNAL_ERROR: u32 = 2;
pub(super) const REFUSED_STREAM: u32 = 7;

/// The server's side of a connection.
pub(super) struct FramePeer(pub(super) TcpStream);

impl FramePeer {
    /// Reads the client's preface; sends nothing.
    pub(super) async fn accept(mut tcp: TcpStream) -> Self {
        let mut preface = [0; 24];
        tcp.read_exact(&mut preface).await.unwrap();
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        Self(tcp)
    }

    /// The stream that the client opens next; `None` when the connection ended before.
    pub(super) async fn next_request(&mut self) -> Option<u32> {
        loop {
            let (kind, stream) = self.frame().await?;
            if kind == HEADERS {
                return Some(stream);
            }
        }
    }

    /// Kind and stream of the next frame.
    async fn frame(&mut self) -> Option<(u8, u32)> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        Some((head[3], u32::from_be_bytes([head[5], head[6], head[7], head[8]])))
    }

    pub(super) async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        // A client that has gone is no fault of the server's.
        let _ = self.0.write_all(&frame).await;
    }

    /// SETTINGS that allow `streams`, or say nothing of them.
    pub(super) async fn settings(&mut self, streams: Option<u32>) {
        let mut payload = Vec::new();
        if let Some(streams) = streams {
            payload.extend(3_u16.to_be_bytes());
            payload.extend(streams.to_be_bytes());
        }
        self.send(SETTINGS, 0, 0, &payload).await;
    }

    /// `:status: 200` (RFC 7541, appendix A) and no body.
    pub(super) async fn answer(&mut self, stream: u32) {
        self.send(HEADERS, END_HEADERS | END_STREAM, stream, &[0x88]).await;
    }

    pub(super) async fn reset(&mut self, stream: u32, code: u32) {
        self.send(RST_STREAM, 0, stream, &code.to_be_bytes()).await;
    }

    pub(super) async fn goaway(&mut self, last_stream: u32) {
        let payload: Vec<u8> = [last_stream, 0].into_iter().flat_map(u32::to_be_bytes).collect();
        self.send(GOAWAY, 0, 0, &payload).await;
    }
}
