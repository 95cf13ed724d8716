//! Where a log is read: from its server, or in the folder that a server of static-ct-api writes.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fs, mem};

use hammer_measure::Now;
use hammer_net::{Answer, Client, ClientConfig, ConfigError, Failure, Request, WireTimes};
use http::header::CONTENT_ENCODING;
use http::{HeaderValue, StatusCode};

use crate::log::LogTarget;

/// A place to read a log from.
pub(crate) enum Source {
    Server(Client),
    Folder(Folder),
}

/// A folder laid out as static-ct-api. Its files are read on the thread that asks: they are small, and a local disk's
/// cache answers sooner than another thread would.
pub(crate) struct Folder {
    root: PathBuf,
    clock: Rc<dyn Now>,
}

impl Source {
    /// The place where `log` is read; the endpoints of `config` are replaced by the log's.
    pub(crate) fn new(
        log: &LogTarget,
        config: ClientConfig,
        clock: Rc<dyn Now>,
    ) -> Result<Self, ConfigError> {
        match &log.folder {
            Some(root) => Ok(Self::Folder(Folder { root: root.clone(), clock })),
            None => Ok(Self::Server(Client::new(log.monitoring_client(config), clock)?)),
        }
    }

    /// Reads at the next of several servers from now on; says whether there is one.
    pub(crate) fn pass_over(&self) -> bool {
        match self {
            Self::Server(client) => client.pass_over(),
            Self::Folder(_) => false,
        }
    }

    /// Reads what is at `path`, which begins with `/`.
    pub(crate) async fn get(&self, path: &str, answer: &mut Answer) -> Result<(), Failure> {
        match self {
            Self::Server(client) => client.send(&Request::get(client.path(path)?), answer).await?,
            Self::Folder(folder) => folder.get(path, answer),
        }
        Ok(())
    }

    /// Reads what is at `path` and may be compressed; [`Answer::decode`] reads it.
    pub(crate) async fn get_compressed(&self, path: &str, answer: &mut Answer) -> Result<(), Failure> {
        match self {
            Self::Server(client) => {
                client.send(&Request::get(client.path(path)?).accept_gzip(), answer).await?;
            }
            Self::Folder(folder) => {
                folder.get(path, answer);
                // Neither entries, which begin with a time, nor JSON begin so; a web server would say it in a header.
                if answer.body.starts_with(&GZIP_MAGIC) {
                    answer.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                }
            }
        }
        Ok(())
    }
}

impl Folder {
    /// Answers as a web server of the folder would.
    fn get(&self, path: &str, answer: &mut Answer) {
        let sent = Some(self.clock.now());
        let (status, body) = match read(&self.root, path, mem::take(&mut answer.body)) {
            Ok(body) => (StatusCode::OK, body),
            Err(why) if why.kind() == ErrorKind::NotFound => (StatusCode::NOT_FOUND, Vec::new()),
            Err(why) if why.kind() == ErrorKind::PermissionDenied => (StatusCode::FORBIDDEN, Vec::new()),
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
        };
        let wire = WireTimes { sent, done: Some(self.clock.now()), ..WireTimes::default() };
        let bytes_in = body.len() as u64;
        *answer = Answer { status, body, wire, bytes_in, ..Answer::new() };
    }
}

fn read(root: &Path, path: &str, mut body: Vec<u8>) -> io::Result<Vec<u8>> {
    body.clear();
    let file = fs::File::open(root.join(path.trim_start_matches('/')))?;
    io::Read::read_to_end(&mut &file, &mut body)?;
    Ok(body)
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
