//! A document over HTTP/1.1, from a server nearby, on a connection of its own.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header::HOST};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::clock::Clock;

/// Why there is no document; the texts complete "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum GetError {
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
pub fn on_loopback(text: &str) -> Option<Uri> {
    let url: Uri = text.parse().ok()?;
    let has_port = url.authority()?.port().is_some();
    (has_port && address(&url)?.ip().is_loopback()).then_some(url)
}

/// The same at an address of loopback or of a private network (RFC 1918; RFC 4193), at port 80 where it names none.
pub fn nearby(text: &str) -> Option<Uri> {
    let url: Uri = text.parse().ok()?;
    let is_near = match address(&url)?.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local(),
    };
    is_near.then_some(url)
}

/// What stands at a URL that [`on_loopback`] or [`nearby`] took, of at most so many bytes.
///
/// # Errors
/// When it is not there, is longer, or does not come in time.
pub async fn get(url: &Uri, most: usize, clock: &dyn Clock) -> Result<Bytes, GetError> {
    let late = clock.sleep_until(clock.elapsed() + LONGEST);
    tokio::select! {
        got = exchange(url, most) => match got {
            Some((StatusCode::OK, body)) => Ok(body),
            Some((status, _)) => Err(GetError::Status { url: url.clone(), status }),
            None => Err(GetError::Broken(url.clone())),
        },
        () = late => Err(GetError::Silent(url.clone())),
    }
}

/// The address that an `http` URL names, where it names no host by its name.
fn address(url: &Uri) -> Option<SocketAddr> {
    let authority = url.authority().filter(|_| url.scheme_str() == Some("http"))?;
    let ip = authority.host().trim_matches(['[', ']']).parse().ok()?;
    let has_user = authority.as_str().contains('@');
    (!has_user).then(|| SocketAddr::new(ip, authority.port_u16().unwrap_or(80)))
}

async fn exchange(url: &Uri, most: usize) -> Option<(StatusCode, Bytes)> {
    let authority = url.authority()?.as_str();
    let stream = TcpStream::connect(address(url)?).await.ok()?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    // It ends when the sender is dropped.
    tokio::spawn(connection);
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path).header(HOST, authority).body(Empty::<Bytes>::new()).ok()?;
    let answer = sender.send_request(request).await.ok()?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), most).collect().await.ok()?.to_bytes();
    Some((status, body))
}

const LONGEST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_asked_of_anybody_who_is_not_on_loopback() {
        for url in ["http://127.0.0.1:1", "http://127.0.0.2:80/realms/tas", "http://[::1]:1/"] {
            assert!(on_loopback(url).is_some() && nearby(url).is_some(), "{url}");
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
    #[test]
    fn nearby_is_a_private_network_too_and_no_name() {
        for url in ["http://127.0.0.1/a", "http://10.0.0.1:1", "http://172.31.0.9/b", "http://[fd00::1]:80/c"]
        {
            assert!(nearby(url).is_some(), "{url}");
        }
        for url in [
            "http://8.8.8.8:1",
            "http://172.32.0.1/",
            "http://169.254.169.254/",
            "http://0.0.0.0:1",
            "http://[2001:db8::1]:1",
            "https://10.0.0.1/",
            "ldap://10.0.0.1/",
            "http://user@10.0.0.1/",
            "http://crl.internal/",
            "/crl",
        ] {
            assert!(nearby(url).is_none(), "{url}");
        }
    }
}
