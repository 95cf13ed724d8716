//! What is refused is named as whoever gave it wrote it.

use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};

use crate::folder::Folder;
use crate::hammer::{Ended, hammer};
use crate::plan::refused;
use crate::server::Server;

fn line(words: &[&str]) -> Ended {
    hammer(&[&["attest"], words].concat())
}

/// A server that answers all requests with that status and body.
fn server(status: &str, body: &str) -> String {
    let length = body.len();
    let server = Server::answering(format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}"));
    server.url()
}

#[test]
fn a_url_that_is_no_verifier_is_named_with_what_it_answered() {
    let lab = AttestLabHandle::spawn(AttestLabPlan::default()).unwrap();
    let of_provisioning = "failed to read the discovery document of provisioning: ";
    let path = "/.well-known/veraison/provisioning";
    let (absent, page) = (server("404 Not Found", "no"), server("200 OK", "\n<!doctype html><p>hello"));
    let (other, text) = (server("200 OK", "{}"), server("200 OK", "hello"));
    for (url, why) in [
        (
            "http://127.0.0.1:1",
            format!("{of_provisioning}failed to connect to 127.0.0.1:1: Connection refused"),
        ),
        (&absent, format!("{of_provisioning}it answered GET {path} with 404")),
        (&page, format!("{of_provisioning}it answered GET {path} with a page for people")),
        (&text, format!("{of_provisioning}its document cannot be read: ")),
        (&other, "failed to provision PSA devices: the service takes neither ".to_owned()),
    ] {
        refused(&line(&["provision", url]), &[&format!("failed to use URL: {why}")]);
        // Where nothing is provisioned, any document will do.
        if url != other {
            let ended = line(&["verify", &lab.url, "--provisioning", url, "--count", "5"]);
            refused(&ended, &[&format!("failed to use --provisioning: {why}")]);
        }
    }
    let unsaid = "failed to use URL: failed to find `newChallengeResponseSession` in the discovery document of verification";
    refused(&line(&["verify", &other, "--count", "5"]), &[unsaid]);
    let below = format!("{}/below", lab.url);
    let why = "failed to use URL: failed to read the discovery document of verification: it answered GET /below/.well-known";
    refused(&line(&["verify", &below, "--count", "5"]), &[why]);
    for command in [&["provision"][..], &["verify", "--count", "5"], &["well-known"]] {
        let public = line(&[command, &["http://192.0.2.1"]].concat());
        refused(&public, &["192.0.2.1:80: it is neither a loopback nor a private address", "--authorized"]);
        refused(&line(&[command, &["nowhere"]].concat()), &["failed to use URL: `nowhere` is no URL"]);
    }
}

#[test]
fn a_value_that_an_argument_cannot_have_is_named_by_it() {
    let folder = Folder::new();
    let (absent, file) = (folder.path("absent"), folder.write("file", "x"));
    let lab = AttestLabHandle::spawn(AttestLabPlan::default()).unwrap();
    let provision = ["provision", &lab.url, "-n", "5", "--quiet"];
    for (more, part) in [
        (&["--users", "0"][..], "use --users: there must be at least one user"),
        (&["--rate", "x"], "use --rate: `x` is no rate"),
        (&["-t", "x"], "use -t: `x` is no time"),
        (&["--cacert", &absent], "use --cacert: "),
        (&["--token-file", &absent], "use --token-file: failed to read a secret from "),
        (
            &["--token-env", "HAMMER_TEST_ABSENT"],
            "use --token-env: failed to read a secret from the environment",
        ),
        (
            &["--basic-user", "u", "--basic-password-file", &absent],
            "use --basic-password-file: failed to read",
        ),
        (&["--basic-user", "u:v", "--basic-password-file", &file], "use --basic-user: a user has no colon"),
    ] {
        refused(&line(&[provision.as_slice(), more].concat()), &[part]);
    }
    let signing = AttestLabPlan { release: hammer_lab_attest::Release::V2608, ..AttestLabPlan::default() };
    let signing = AttestLabHandle::spawn(signing).unwrap();
    let sign = ["provision", &signing.url, "--signer-key", &file, "--signer-certificate", &file];
    refused(&line(&sign), &["use --signer-key: failed to sign endorsements by ", &file]);
    let verify = ["verify", &lab.url, "--quiet"];
    for (more, part) in [
        (&["--count", "5", "--bad", "500%"][..], "use --bad: `500%` is no share"),
        (&["--count", "5", "--for", "x"], "use -z: `x` is no time"),
        (&["--count", "5", "--token-file", &file], "use --token-file: verification asks nobody for it"),
        (&["--provisioning", "nowhere"], "use --provisioning: `nowhere` is no URL"),
    ] {
        refused(&line(&[verify.as_slice(), more].concat()), &[part]);
    }
}

#[test]
fn arguments_that_contradict_each_other_are_not_taken() {
    let url = "http://127.0.0.1:9";
    for (words, part) in [
        (&["verify", url][..], "<--provisioning <URL>|--count <N>>"),
        (
            &["verify", url, "--devices", "5", "--count", "5"],
            "'--devices <N>' cannot be used with '--count <N>'",
        ),
        (&["verify", url, "--provision-at-start", "--count", "5"], "cannot be used with"),
        (&["verify", url, "--provisioning", url, "--first", "5"], "--count <N>"),
        (&["verify", url, "--count", "0"], "invalid value '0' for '--count <N>': it must be 1 at least"),
        (&["verify", url, "--count", "5", "--nonce", "x"], "possible values: own, service, device"),
        (&["verify", url, "--count", "5", "--rate", "5", "--users", "5"], "cannot be used with"),
        (
            &["provision", url, "--basic-user", "u"],
            "--basic-password-file <FILE>|--basic-password-env <NAME>",
        ),
        (&["provision", url, "--basic-password-env", "X"], "--basic-user <NAME>"),
        (&["provision", url, "--basic-password-env", "X", "--token-env", "Y"], "cannot be used with"),
        (&["provision", url, "--basic-user", "u", "--token-env", "Y"], "cannot be used with"),
        (&["provision", url, "--token-file", "x", "--token-env", "Y"], "cannot be used with"),
        (&["provision", url, "--signer-key", "x"], "--signer-certificate <FILE>"),
        (&["provision", url, "-n", "5", "--for", "4s"], "cannot be used with"),
        (&["well-known", url, "--document", "x"], "possible values: provisioning, verification, management"),
        (&["well-known"], "<URL>..."),
    ] {
        let ended = line(words);
        assert!(ended.code == 2 && ended.stderr.contains(part), "{words:?}: {}", ended.stderr);
    }
}
