//! A document over HTTP/1.1, from a server on loopback, on a connection of its own.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use hammer_lab::clock::Clock;
use http::{Request, StatusCode, Uri, header::HOST};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Why there is no document; the texts complete "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum GetError {
    /// The server cannot be reached, or breaks off.
    #[error("read {0}: no whole answer came")]
    Broken(Uri),
    /// It answers something else.
    #[error("read {url}: it was answered with {status}")]
    Status {
        /// What was asked for.
        url: Uri,
        /// The answer.
        status: StatusCode,
    },
    /// It does not answer in time.
    #[error("read {0}: nothing came within 10 s")]
    Silent(Uri),
}

/// The URL of something that an embedded service may ask for: `http`, at an address of loopback with a port.
pub(crate) fn on_loopback(text: &str) -> Option<Uri> {
    let url: Uri = text.parse().ok()?;
    let address: SocketAddr = url.authority()?.as_str().parse().ok()?;
    (url.scheme_str() == Some("http") && address.ip().is_loopback()).then_some(url)
}

/// What stands at a URL that [`on_loopback`] took.
///
/// # Errors
/// When it is not there, or does not come in time.
pub(crate) async fn get(url: &Uri, clock: &dyn Clock) -> Result<Bytes, GetError> {
    let late = clock.sleep_until(clock.elapsed() + LONGEST);
    tokio::select! {
        got = exchange(url) => match got {
            Some((StatusCode::OK, body)) => Ok(body),
            Some((status, _)) => Err(GetError::Status { url: url.clone(), status }),
            None => Err(GetError::Broken(url.clone())),
        },
        () = late => Err(GetError::Silent(url.clone())),
    }
}

async fn exchange(url: &Uri) -> Option<(StatusCode, Bytes)> {
    let authority = url.authority()?.as_str();
    let stream = TcpStream::connect(authority).await.ok()?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    // It ends when the sender is dropped.
    tokio::spawn(connection);
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path).header(HOST, authority).body(Empty::<Bytes>::new()).ok()?;
    let answer = sender.send_request(request).await.ok()?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), MOST).collect().await.ok()?.to_bytes();
    Some((status, body))
}

/// Bytes of a document.
const MOST: usize = 1 << 20;
const LONGEST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_asked_of_anybody_who_is_not_on_loopback() {
        for url in ["http://127.0.0.1:1", "http://127.0.0.2:80/realms/tas", "http://[::1]:1/"] {
            assert!(on_loopback(url).is_some(), "{url}");
        }
        for url in [
            "http://10.0.0.1:1",
            "https://127.0.0.1:1",
            "http://localhost:1",
            "http://127.0.0.1",
            "nowhere",
            "",
        ] {
            assert!(on_loopback(url).is_none(), "{url}");
        }
    }
}
