//! Where hammer's client differs from hyper's, and why.

use super::{Altered, Made};

/// A class of differences.
pub(super) struct Difference {
    /// Why hammer does otherwise.
    pub(super) reason: &'static str,
    /// An answer of which both make what is meant.
    pub(super) example: fn() -> String,
    /// Whether what hyper and hammer made of an answer belongs to it.
    pub(super) is_it: fn(&Altered, &Made, &Made) -> bool,
}

/// Every class.
pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        reason: "101: hyper hands the connection over to whoever asked for an upgrade, and hammer never asks",
        example: || {
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n".to_owned()
        },
        is_it: |altered, _, hammer| altered.status() == "101" && *hammer == Made::Failure,
    },
    Difference {
        reason: "chunks beside a length: somebody on the way may have taken the other for the end (RFC 9112, section \
                 6.3), so hammer uses the connection no more",
        example: || ok("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "4\r\nbody\r\n0\r\n\r\n"),
        is_it: |altered, hyper, hammer| {
            let has_both = altered.says("transfer-encoding") && altered.says("content-length");
            has_both && *hammer == hyper.on_a_connection_of_its_own()
        },
    },
    Difference {
        reason: "trailers: hyper reads a hundred and refuses what is none, and hammer reads past 16 KB of whatever",
        example: || ok("Transfer-Encoding: chunked\r\n", &format!("0\r\n{}\r\n", "T: 1\r\n".repeat(200))),
        is_it: |altered, hyper, hammer| {
            let has_trailers = altered.says("transfer-encoding") && altered.text().contains("\r\n0\r\n");
            has_trailers && *hyper == Made::Failure && *hammer != Made::Failure
        },
    },
    Difference {
        reason: "more than a hundred headers: hammer takes a few more",
        example: || ok(&format!("{}Content-Length: 4\r\n", "X: 1\r\n".repeat(110)), "body"),
        is_it: |altered, hyper, hammer| {
            let is_taken = *hyper == Made::Failure && *hammer != Made::Failure;
            is_taken && altered.text().lines().take_while(|line| !line.is_empty()).count() > 100
        },
    },
    Difference {
        reason: "a head over 256 KB: hyper takes up to 400 KB",
        example: || ok(&format!("X: {}\r\nContent-Length: 4\r\n", "a".repeat(300 << 10)), "body"),
        is_it: |altered, _, hammer| altered.bytes.len() > 256 << 10 && *hammer == Made::Failure,
    },
    Difference {
        reason: "a head that is wrong before it ends: hammer reads more of it at first, and says so sooner",
        example: || format!("HTTP/1.1 200 OK\r\nX: {}\0", "a".repeat(24 << 10)),
        is_it: |altered, hyper, hammer| {
            let has_no_end = !altered.text().replace('\r', "").contains("\n\n");
            has_no_end && *hyper == Made::Nothing && *hammer == Made::Failure
        },
    },
    Difference {
        reason: "a length over the limit: hyper has none, and waits",
        example: || ok("Content-Length: 20000000\r\n", "body"),
        is_it: |altered, _, hammer| {
            let is_over = altered.length().parse::<u64>().is_ok_and(|length| length > 16 << 20);
            is_over && *hammer == Made::Failure
        },
    },
    Difference {
        reason: "a length that is none: hyper looks past it where no body follows or an encoding says where it ends",
        example: || "HTTP/1.1 204 No Content\r\nContent-Length: 1e3\r\n\r\n".to_owned(),
        is_it: |altered, _, hammer| {
            let length = altered.length();
            *hammer == Made::Failure && (length.parse::<u64>().is_err() || length.starts_with('+'))
        },
    },
];

fn ok(fields: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}")
}

impl Altered {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The status, as it is written.
    fn status(&self) -> String {
        self.text().split(' ').nth(1).unwrap_or_default().to_owned()
    }

    /// Whether a header of that name is there.
    fn says(&self, name: &str) -> bool {
        self.text().to_ascii_lowercase().contains(&format!("\n{name}:"))
    }

    /// The first length, as it is written; a good one where there is none.
    fn length(&self) -> String {
        let text = self.text().to_ascii_lowercase();
        let written = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        written.map_or("0", str::trim).to_owned()
    }
}

impl Made {
    /// The same, with another connection for what follows.
    fn on_a_connection_of_its_own(&self) -> Self {
        match self.clone() {
            Self::Answer { status, body, .. } => Self::Answer { status, body, is_reused: false },
            other => other,
        }
    }
}
