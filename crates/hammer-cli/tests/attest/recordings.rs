//! What real verifiers answered, as it came over the wire; and a server that answers so again.

use std::fs;

use crate::server::{Request, Server};

/// The answer of a recorded exchange, head and body, in chunks where it came in chunks.
pub(crate) fn answer(name: &str) -> String {
    let file = format!("{FOLDER}/{name}.txt");
    let text = fs::read_to_string(&file).unwrap_or_else(|why| panic!("{file}: {why}"));
    let (head, body) = text.split_once("\n< \n\n").or_else(|| text.split_once("\n< \n")).unwrap();
    let head: Vec<&str> = head.lines().filter_map(|line| line.strip_prefix("< ")).collect();
    wire(&head, body.trim_end_matches('\n'))
}

/// The answers to requests that nobody let in, and to one that somebody did: without credentials, with the right ones, with a wrong
/// password, and of a user who may not provision. They were recorded over HTTP/2, and come over HTTP/1.1.
pub(crate) fn let_in(place: usize) -> String {
    let text = fs::read_to_string(format!("{FOLDER}/auth-basic-tls.txt")).unwrap().replace('\r', "");
    let (head, body) = text.split("HTTP/2 ").nth(1 + place).unwrap().split_once("\n\n").unwrap();
    let mut lines = head.lines();
    let status = format!("HTTP/1.1 {}Told", lines.next().unwrap());
    wire(&[status.as_str()].into_iter().chain(lines).collect::<Vec<_>>(), body.trim_end_matches('\n'))
}

fn wire(head: &[&str], body: &str) -> String {
    let body = match head.iter().any(|line| line.eq_ignore_ascii_case("transfer-encoding: chunked")) {
        true => {
            let (first, rest) = body.split_at(2048);
            format!("{:x}\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n", first.len(), rest.len())
        }
        false => body.to_owned(),
    };
    format!("{}\r\n\r\n{body}", head.join("\r\n"))
}

/// What a verifier answers to each request of a flow; names of recorded exchanges, or whole answers.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) provisioning: String,
    pub(crate) verification: String,
    pub(crate) submit: String,
    pub(crate) new_session: String,
    pub(crate) evidence: String,
    pub(crate) read: String,
    pub(crate) delete: String,
}

impl Script {
    /// A flow of v0.0.2502.
    pub(crate) fn of_2502() -> Self {
        Self {
            provisioning: answer("01-wellknown-provisioning"),
            verification: answer("02-wellknown-verification"),
            submit: answer("03-submit-unsigned"),
            new_session: answer("04-newsession-nonce"),
            evidence: answer("06-submit-evidence"),
            read: answer("07-get-session-complete"),
            delete: answer("08-delete-session"),
        }
    }

    /// The same as far as it was recorded of v0.0.2608, which answers evidence as v0.0.2502 does.
    pub(crate) fn of_2608() -> Self {
        Self {
            provisioning: answer("v2608-01-wk-prov"),
            verification: answer("v2608-02-wk-verif"),
            submit: answer("v2608-03-submit-again"),
            new_session: answer("v2608-04-newsession"),
            ..Self::of_2502()
        }
    }

    pub(crate) fn serve(self) -> Server {
        Server::answering_to(move |_, request| self.answer(request))
    }

    /// What it answers to a request; to one that it does not know, what real ones do.
    pub(crate) fn answer(&self, request: &Request) -> String {
        self.of(request).cloned().unwrap_or_else(|| answer("e18-404"))
    }

    fn of(&self, request: &Request) -> Option<&String> {
        let mut words = request.line.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        let path = path.split('?').next()?;
        Some(match (method, path) {
            ("GET", "/.well-known/veraison/provisioning") => &self.provisioning,
            ("GET", "/.well-known/veraison/verification") => &self.verification,
            ("POST", "/endorsement-provisioning/v1/submit") => &self.submit,
            ("POST", "/challenge-response/v1/newSession") => &self.new_session,
            (method, path) if path.starts_with("/challenge-response/v1/session/") => match method {
                "POST" => &self.evidence,
                "GET" => &self.read,
                "DELETE" => &self.delete,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Its `README.md` says where they come from.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../hammer-lab-attest/testdata/exchanges");
