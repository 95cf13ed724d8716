//! Answers that break HTTP/1.1 (RFC 9112) in one known way, or use what of it is seldom used.

use hammer_mutate::Rng;

/// One of them around `body`, or a good one.
pub(super) fn by_rule(rng: &mut Rng, body: &str) -> String {
    match rng.below(4) {
        0 => by_length(rng, body),
        1 => by_chunks(rng, body),
        2 => by_status(rng, body),
        _ => by_fields(rng, body),
    }
}

fn head(status: &str, fields: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{fields}\r\n")
}

fn ok(fields: &str, body: &str) -> String {
    head("200 OK", fields) + body
}

fn by_length(rng: &mut Rng, body: &str) -> String {
    let length = body.len();
    let fields = match rng.below(8) {
        0 => format!("Content-Length: {}\r\n", length - 1 - rng.below(length - 1)),
        1 => format!("Content-Length: {}\r\n", length + 1 + rng.below(100)),
        2 => format!("Content-Length: {length}, {length}\r\n"),
        3 => format!("Content-Length: {length}\r\nContent-Length: {}\r\n", length / 2),
        4 => format!("Transfer-Encoding: gzip\r\nContent-Length: {length}\r\n"),
        5 => format!("Content-Length : {length}\r\n"),
        6 => format!("Content-Length: {length}\r\n"),
        _ => format!("Content-Length: {}\r\n", rng.of(&NO_LENGTHS)),
    };
    ok(&fields, body)
}

fn by_chunks(rng: &mut Rng, body: &str) -> String {
    let length = body.len();
    let chunks = match rng.below(9) {
        0 => format!("{length:x}\r\n{body}\r\n0\r\n\r\n"),
        1 => format!("{length:x};name=value\r\n{body}\r\n0\r\nTrailer: yes\r\n\r\n"),
        2 => format!("{:x}\r\n{body}\r\n0\r\n\r\n", length + 3),
        3 => format!("-{length:x}\r\n{body}\r\n0\r\n\r\n"),
        4 => format!("ffffffffffffffffff\r\n{body}"),
        5 => format!("{length:x}\n{body}\n0\n\n"),
        6 => format!("{length:x}\r\n{body}\r\n"),
        7 => format!("1{}\r\n", "0".repeat(1 + rng.below(100_000))),
        _ => format!("{length:x}\r\n{body}\r\n0\r\n{}\r\n", "T: 1\r\n".repeat(rng.below(3000))),
    };
    let encodings = [
        "chunked",
        "chunked",
        "Chunked",
        "chunked, identity",
        "identity, chunked",
        "chunked\r\nContent-Length: 3",
    ];
    ok(&format!("Transfer-Encoding: {}\r\n", rng.of(&encodings)), &chunks)
}

fn by_status(rng: &mut Rng, body: &str) -> String {
    let length = format!("Content-Length: {}\r\n", body.len());
    match rng.below(7) {
        0 => "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n".repeat(1 + rng.below(300)) + &ok(&length, body),
        1 => head("101 Switching Protocols", "Upgrade: h2c\r\nConnection: upgrade\r\n") + body,
        2 => head(rng.of(&["099 Low", "1000 High", "abc", "", "200", "-20 OK"]), "") + body,
        3 => head(rng.of(&["204 None", "304 Same", "205 Reset"]), &length) + body,
        4 => ok(&length, body).replacen("HTTP", rng.of(&["http", "ICY", "HTTQ", ""]), 1),
        5 => ok(&length, body).replacen("1.1", rng.of(&["0.9", "1.0", "1.2", "2", "9.9"]), 1),
        _ => format!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n{body}"),
    }
}

fn by_fields(rng: &mut Rng, body: &str) -> String {
    let length = format!("Content-Length: {}\r\n", body.len());
    match rng.below(7) {
        0 => ok(&format!("X-Large: {}\r\n{length}", "a".repeat(1 << (10 + rng.below(10)))), body),
        1 => ok(&("X-Many: 1\r\n".repeat(1 << rng.below(12)) + &length), body),
        2 => ok(&length, body).replace("\r\n", "\n"),
        3 => ok(&format!("X-Null: a\0b\r\n{length}"), body),
        4 => ok(&format!("X-Folded: a\r\n b\r\n{length}"), body),
        5 => "\r\n".repeat(1 + rng.below(40)) + &ok(&length, body),
        _ => body.to_owned(),
    }
}

const NO_LENGTHS: [&str; 10] = ["-1", "+5", "0x10", "", " ", "5 5", "1e3", "٣", "99999999999999999999", "5;"];
