//! Where a log is read: from its servers, or in the folder that a server of tiles writes.

use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fs, mem};

use hammer_measure::Now;
use hammer_measure::connection::ConnectionLog;
use hammer_net::{
    Answer, Balancing, Client, ClientConfig, ConfigError, Failure, FailureKind, Request, WireTimes,
};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};

use crate::answer_bound::AnswerBound;

/// Where to read a log.
#[derive(Clone, Debug)]
pub enum LogPlace {
    /// At the endpoints of this client.
    Servers(Box<ClientConfig>),
    /// In a folder, whose files are named as a web server would have them.
    Folder(PathBuf),
}

/// What reads a log, on the thread that opened it.
pub enum LogClient {
    /// From servers, within a `LocalSet`.
    Server(Client),
    /// In a folder.
    Folder(LogFolder),
}

/// What is read of a log.
#[derive(Clone, Copy, Debug)]
pub struct LogRequest<'a> {
    /// Where it is, from the log's URL or folder on; it starts with `/`.
    pub path: &'a str,
    /// Whether it is asked for as gzip.
    pub compressed: bool,
    /// How long it may be; as long as the client takes where it is `None`.
    pub bound: Option<AnswerBound>,
}

/// A folder with the files of a log. They are read on the thread that asks: they are small, and a local disk's cache answers
/// sooner than another thread would.
pub struct LogFolder {
    root: PathBuf,
    clock: Rc<dyn Now>,
}

impl LogPlace {
    /// The same place for an audit: so many requests at once, and one server after another, since another one may lag, and its tree
    /// must not look as if it shrank. Each request says how long its answer may be.
    pub(crate) fn of_audit(self, connections: usize) -> Self {
        match self {
            Self::Servers(mut client) => {
                client.balancing = Balancing::PickFirst;
                client.connections = connections;
                Self::Servers(client)
            }
            folder => folder,
        }
    }

    /// How many servers there are; a folder counts as one.
    pub(crate) fn servers(&self) -> usize {
        match self {
            Self::Servers(client) => client.endpoints.len(),
            Self::Folder(_) => 1,
        }
    }

    /// The folder, or the URLs.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Servers(client) => {
                client.endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            }
            Self::Folder(folder) => folder.display().to_string(),
        }
    }
}

impl From<ClientConfig> for LogPlace {
    fn from(client: ClientConfig) -> Self {
        Self::Servers(Box::new(client))
    }
}

impl LogClient {
    /// What reads at `place`.
    ///
    /// # Errors
    /// Those of [`Client::new`].
    pub fn open(place: LogPlace, clock: Rc<dyn Now>) -> Result<Self, ConfigError> {
        match place {
            LogPlace::Folder(root) => Ok(Self::Folder(LogFolder { root, clock })),
            LogPlace::Servers(client) => {
                Ok(Self::Server(Client::new(*client, clock, ConnectionLog::default())?))
            }
        }
    }

    /// Reads at the next of several servers from now on; says whether there is one.
    pub fn pass_over(&self) -> bool {
        match self {
            Self::Server(client) => client.pass_over(),
            Self::Folder(_) => false,
        }
    }

    /// The `Authorization` that it sends with every request, where it has one.
    pub fn bearer(&self) -> Option<&HeaderValue> {
        match self {
            Self::Server(client) => client.bearer(),
            Self::Folder(_) => None,
        }
    }

    /// The log's servers, by which [`LogClient::get_from`] asks one of them; none of a folder.
    ///
    /// # Errors
    /// When they cannot be looked up.
    pub async fn servers(&self) -> Result<Vec<usize>, Failure> {
        match self {
            Self::Server(client) => client.servers().await,
            Self::Folder(_) => Ok(Vec::new()),
        }
    }

    /// What a server is called: its host, port and address.
    pub(crate) fn name_of(&self, server: usize) -> String {
        let names = match self {
            Self::Server(client) => client.endpoints(),
            Self::Folder(_) => Vec::new(),
        };
        names.into_iter().nth(server).unwrap_or_default()
    }

    /// Whether the log has several servers.
    pub fn are_several(&self) -> bool {
        matches!(self, Self::Server(client) if client.are_several())
    }

    /// Reads what is asked for, at that server, or where none is named at the one whose turn it is. What a refusal says beyond the bound is
    /// dropped. An answer that is longer than any hash tile reads as zero bytes, one more than a full tile has: of no tile's length.
    ///
    /// # Errors
    /// When nothing answers, or the answer is longer.
    pub async fn get_from(
        &self,
        server: Option<usize>,
        asked: LogRequest<'_>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let went = self.read(server, asked, answer).await;
        let Err(Failure { kind: FailureKind::TooLarge, .. }) = went else { return went };
        answer.body.clear();
        match asked.bound {
            // The page that a web server shows of a name that it does not have may be longer than a tile: it is not there all the same.
            _ if is_refusal(answer.status) => Ok(()),
            Some(AnswerBound::HASH_TILE) if answer.status == StatusCode::OK => {
                answer.body.resize(AnswerBound::HASH_TILE.bytes() + 1, 0);
                answer.headers.remove(CONTENT_ENCODING);
                Ok(())
            }
            _ => went,
        }
    }

    async fn read(
        &self,
        server: Option<usize>,
        LogRequest { path, compressed, bound }: LogRequest<'_>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        match self {
            Self::Server(client) => {
                let mut request = Request::get(client.path(path)?).keep_header(RETRY_AFTER);
                request.limit = bound.map(AnswerBound::on_the_wire);
                let request = match compressed {
                    true => request.accept_gzip(),
                    // Who is asked for no encoding may choose one (RFC 9110 section 12.5.3).
                    false => request.keep_header(CONTENT_ENCODING),
                };
                match server {
                    Some(server) => client.send_to(server, &request, answer).await?,
                    None => client.send(&request, answer).await?,
                }
            }
            Self::Folder(folder) => {
                folder.get(path, bound, answer)?;
                // A web server would say it in a header. Hashes may start so too, and entries whose length is written first,
                // but one in 16 million.
                if compressed && answer.body.starts_with(&GZIP_MAGIC) {
                    answer.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                }
            }
        }
        Ok(())
    }

    /// Sends JSON to `path`, and reads the answer within that bound.
    ///
    /// # Errors
    /// When nothing answers, or the answer is longer.
    pub(crate) async fn post(
        &self,
        path: &str,
        body: &[u8],
        bound: AnswerBound,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        match self {
            Self::Server(client) => {
                let mut request = Request::post(client.path(path)?, body.to_vec()).keep_header(RETRY_AFTER);
                request.limit = Some(bound.on_the_wire());
                request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                client.send(&request, answer).await?;
            }
            Self::Folder(_) => {
                *answer = Answer::new();
                answer.status = StatusCode::METHOD_NOT_ALLOWED;
            }
        }
        Ok(())
    }
}

impl LogFolder {
    /// Answers as a web server of the folder would.
    fn get(&self, path: &str, bound: Option<AnswerBound>, answer: &mut Answer) -> Result<(), Failure> {
        let sent = Some(self.clock.now());
        let most = bound.map_or(usize::MAX, AnswerBound::on_the_wire);
        let (status, body) = match read(&self.root, path, most, mem::take(&mut answer.body)) {
            Ok(body) if body.len() > most => {
                *answer = Answer::new();
                let detail = format!("read {path}: it is larger than the limit of {most} bytes");
                return Err(Failure::new(FailureKind::TooLarge, detail));
            }
            Ok(body) => (StatusCode::OK, body),
            Err(why) if why.kind() == ErrorKind::NotFound => (StatusCode::NOT_FOUND, Vec::new()),
            Err(why) if why.kind() == ErrorKind::PermissionDenied => (StatusCode::FORBIDDEN, Vec::new()),
            Err(why) if why.kind() == ErrorKind::InvalidInput => {
                let detail = format!("read {path}: {why}");
                return Err(Failure::new(FailureKind::Protocol, detail));
            }
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
        };
        let wire = WireTimes { sent, done: Some(self.clock.now()), ..WireTimes::default() };
        *answer = Answer::new();
        answer.bytes_in = body.len() as u64;
        answer.body_length = body.len();
        (answer.status, answer.body, answer.wire) = (status, body, wire);
        Ok(())
    }
}

fn is_refusal(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// Reads a byte more than `most` of a file that is longer. What is no regular file is an invalid input.
fn read(root: &Path, path: &str, most: usize, mut body: Vec<u8>) -> io::Result<Vec<u8>> {
    body.clear();
    let place = root.join(path.trim_start_matches('/'));
    let kind = fs::metadata(&place)?.file_type();
    if !kind.is_file() {
        // Opening a pipe waits for whoever writes into it.
        let what = if kind.is_dir() { "a folder" } else { "a pipe, a socket or a device" };
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("it is {what}, and no regular file")));
    }
    let file = fs::File::open(place)?;
    file.take((most as u64).saturating_add(1)).read_to_end(&mut body)?;
    Ok(body)
}

/// What every gzip member starts with: its two identifiers, and deflate as the method (RFC 1952 section 2.3.1).
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_the_place_of_a_file_is_refused_by_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("checkpoint")).unwrap();
        fs::write(folder.path().join("tile"), b"tile").unwrap();
        let read = |path| read(folder.path(), path, 9, Vec::new());
        let why = read("/checkpoint").unwrap_err();
        assert_eq!(
            (why.kind(), why.to_string().as_str()),
            (ErrorKind::InvalidInput, "it is a folder, and no regular file")
        );
        assert_eq!(read("/tile").unwrap(), b"tile");
        assert_eq!(read("/other").unwrap_err().kind(), ErrorKind::NotFound);
    }
}
