//! The notary's server, on loopback.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use hammer_tlog::encoding::base64;
use hammer_tlog::hash::sha256;
use hammer_tlog::logs::audit::LeafFormat as _;
use hammer_tlog::logs::merkle::{Tree, root_at};
use hammer_tlog::logs::note::{NoteSignature, ed25519_key_id, format};
use hammer_tlog::logs::tile::{Level, TileId, encode_hashes, tiles_for};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use super::log::{NotaryLeaves, ORIGIN};

/// What the notary does against its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotaryLie {
    /// It keeps another act in the place of the tenth.
    Loses,
    /// It signs another index for the tenth.
    SignsAnother,
}

/// Serves until the test's process ends.
pub(crate) struct NotaryServer {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    book: Arc<Mutex<Book>>,
}

/// What it knows.
struct Book {
    key: Ed25519KeyPair,
    lie: Option<NotaryLie>,
    nonces: BTreeSet<Vec<u8>>,
    tokens: BTreeSet<String>,
    acts: Vec<Vec<u8>>,
    /// Inquiries that got no answer.
    unanswered: usize,
    /// What it publishes, by path.
    published: BTreeMap<String, Vec<u8>>,
}

struct Request {
    path: String,
    token: String,
    body: Vec<u8>,
}

impl NotaryServer {
    pub(crate) fn start(lie: Option<NotaryLie>) -> Self {
        let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let public = base64(key.public_key().as_ref());
        let (nonces, tokens, acts, published) = Default::default();
        let mut book = Book { key, lie, nonces, tokens, acts, unanswered: 0, published };
        book.publish();
        let book = Arc::new(Mutex::new(book));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, shared) = (listener.local_addr().unwrap(), book.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let book = shared.clone();
                thread::spawn(move || serve(&stream, &book));
            }
        });
        Self { address, key: public, book }
    }

    /// How many acts it holds, how many tokens and nonces it gave out, and how many inquiries it left without an answer.
    pub(crate) fn counts(&self) -> [usize; 4] {
        let book = self.book.lock().unwrap();
        [book.acts.len(), book.tokens.len(), book.nonces.len(), book.unanswered]
    }
}

impl Book {
    /// The answer to a request; none where the notary keeps silent.
    fn answer(&mut self, request: &Request) -> Option<(u16, Vec<u8>)> {
        if request.path.starts_with("/unanswered/") {
            self.unanswered += 1;
            return None;
        }
        if request.path.starts_with("/act/") {
            return Some((200, b"kept".to_vec()));
        }
        if let Some(published) = self.published.get(&request.path) {
            return Some((200, published.clone()));
        }
        if request.path == "/token" {
            let token = format!("token-{}", self.tokens.len());
            self.tokens.insert(token.clone());
            return Some((200, token.into_bytes()));
        }
        if !self.tokens.contains(&request.token) {
            return Some((401, Vec::new()));
        }
        match request.path.as_str() {
            "/nonce" => {
                let nonce = sha256(&self.nonces.len().to_be_bytes()).0.to_vec();
                self.nonces.insert(nonce.clone());
                Some((200, nonce))
            }
            "/submit" => Some(self.submit(&request.body)),
            _ => Some((404, Vec::new())),
        }
    }

    fn submit(&mut self, act: &[u8]) -> (u16, Vec<u8>) {
        let Some((nonce, rest)) = act.split_at_checked(32) else { return (400, Vec::new()) };
        let Some((key, signature)) = rest.split_at_checked(32) else { return (400, Vec::new()) };
        let is_signed = UnparsedPublicKey::new(&ED25519, key).verify(nonce, signature).is_ok();
        if !self.nonces.contains(nonce) || !is_signed {
            return (403, Vec::new());
        }
        let index = self.acts.len();
        let (mut kept, mut signed) = (act.to_vec(), (index as u64).to_be_bytes());
        match self.lie.filter(|_| index == 10) {
            Some(NotaryLie::Loses) => kept = b"another".to_vec(),
            Some(NotaryLie::SignsAnother) => signed = 11u64.to_be_bytes(),
            None => {}
        }
        self.acts.push(kept);
        self.publish();
        let leaf = NotaryLeaves::leaf_hash(&act).unwrap();
        let signature = self.key.sign(&[&leaf.0[..], &signed].concat());
        (200, [&(index as u64).to_be_bytes()[..], signature.as_ref()].concat())
    }

    fn publish(&mut self) {
        let mut tree = Tree::default();
        self.acts.iter().for_each(|act| tree.append(NotaryLeaves::leaf_hash(&&act[..]).unwrap()));
        let size = tree.size();
        for tile in tiles_for(size) {
            let Level::Hashes(level) = tile.level else { continue };
            let first = tile.first() as usize;
            let range = first..first + usize::from(tile.width);
            let hashes = encode_hashes(&tree.level(level * 8)[range.clone()]);
            self.published.insert(format!("/{tile}"), hashes.clone());
            if level == 0 {
                let framed = |act: &Vec<u8>| [&(act.len() as u16).to_be_bytes()[..], act].concat();
                let acts = self.acts[range].iter().flat_map(framed).collect();
                self.published.insert(format!("/{}", TileId { level: Level::Entries, ..tile }), acts);
            }
        }
        let root = root_at(&tree, size).unwrap();
        let text = format!("{ORIGIN}\n{size}\n{}\n", base64(&root.0));
        let signature = self.key.sign(text.as_bytes()).as_ref().to_vec();
        let key_id = ed25519_key_id(ORIGIN, self.key.public_key().as_ref().try_into().unwrap());
        let line = NoteSignature { name: ORIGIN, key_id, signature };
        self.published.insert("/checkpoint".to_owned(), format(&text, &[line]).into_bytes());
    }
}

fn serve(mut stream: &TcpStream, book: &Mutex<Book>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = request(&mut reader) {
        let Some((status, body)) = book.lock().unwrap().answer(&request) else { continue };
        let head = format!("HTTP/1.1 {status} \r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all(&[head.as_bytes(), &body].concat()).is_err() {
            return;
        }
    }
}

fn request(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    };
    let path = line()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<String> = std::iter::from_fn(&mut line).take_while(|line| !line.is_empty()).collect();
    let value = |name: &str| {
        let pairs = headers.iter().filter_map(|line| line.split_once(':'));
        pairs
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
            .next()
    };
    let token = value("authorization").unwrap_or_default().trim_start_matches("Bearer ").to_owned();
    let mut body = vec![0; value("content-length").map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, token, body })
}
