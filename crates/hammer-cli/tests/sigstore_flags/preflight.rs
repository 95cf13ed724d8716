//! Services that are not those which are trusted are found before the first flow, and said with what mends it.

use super::*;

/// `hammer sigstore COMMAND` on a lab, with the trusted root of `trusted`, for half a second.
fn load(lab: &Lab, command: &str, trusted: &Lab, more: &[&str]) -> Ended {
    let (rekor, tiles, token) = (lab.at("rekor_url"), lab.at("rekor_tiles_url"), lab.token());
    let root = trusted.at("trusted_root");
    let args: &[&str] = match command {
        "tsa" => &["sigstore", "tsa", lab.at("timestamp_url"), "--trusted-root", root],
        "sign" => &[
            "sigstore",
            "sign",
            "--fulcio",
            lab.at("fulcio_url"),
            "--rekor",
            rekor,
            "--token-file",
            token,
            "--trusted-root",
            root,
        ],
        _ => &[
            "sigstore",
            "sign",
            "--fulcio",
            lab.at("fulcio_url"),
            "--rekor-tiles",
            tiles,
            "--rekor-tiles-origin",
            lab.at("rekor_tiles_origin"),
            "--token-file",
            token,
            "--trusted-root",
            root,
        ],
    };
    hammer(&[args, &["-q", "20/s", "-z", "500ms", "--out", "-"], more].concat())
}

/// A lab of which one service has another key.
fn other(service: &str) -> Lab {
    Lab::of(&["--set", &format!("{service}.key_seed=7")])
}

#[test]
fn a_service_that_is_not_the_trusted_one_is_refused_before_the_first_flow() {
    let lab = Lab::of(&[]);
    for (service, command, words) in [
        ("fulcio", "sign", ["Fulcio at", "has the chain of root", "`fulcio_chain`"]),
        ("rekor", "sign", ["Rekor at", "signs by the key of log ID", "`rekor_key`"]),
        (
            "rekor_tiles",
            "sign on tiles",
            ["the log of Rekor v2 at", "with the key of id", "`rekor_tiles_key`"],
        ),
        ("timestamp_authority", "tsa", ["the timestamp authority at", "trusted is", "`timestamp_chain`"]),
    ] {
        let trusted = other(service);
        let ended = load(&lab, command, &trusted, &[]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{service}: {}", ended.stderr);
        for word in words.into_iter().chain(["--no-preflight"]) {
            assert!(ended.stderr.contains(word), "{service}, {word}: {}", ended.stderr);
        }
        let ended = load(&lab, command, &trusted, &["--no-preflight"]);
        assert_eq!(ended.code, 4, "{service}: {}", ended.stderr);
        kept(&load(&lab, command, &lab, &[]));
    }
}

#[test]
fn an_origin_that_is_not_that_of_rekor_is_refused_and_says_which_is() {
    let lab = Lab::of(&[]);
    let (tiles, root, token) = (lab.at("rekor_tiles_url"), lab.at("trusted_root"), lab.token());
    let on = ["--rekor-tiles", tiles, "--rekor-tiles-origin", "another.test", "--token-file", token];
    let args = ["sigstore", "sign", "--fulcio", lab.at("fulcio_url"), "--trusted-root", root];
    let ended = hammer(&[args.as_slice(), &on, &["-q", "20/s", "-z", "500ms", "--out", "-"]].concat());
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    let says = format!("signs as {}, and trusted is another.test", lab.at("rekor_tiles_origin"));
    assert!(ended.stderr.contains(&says), "{}", ended.stderr);
}

#[test]
fn a_service_that_does_not_say_who_it_is_is_noted_and_the_run_goes_on() {
    let lab = Lab::of(&[]);
    let args = ["sigstore", "tsa", "http://127.0.0.1:9", "--trusted-root", lab.at("trusted_root")];
    let ended = hammer(&[args.as_slice(), &["-q", "20/s", "-z", "200ms", "--out", "-"]].concat());
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let said = "before the run timestamp at http://127.0.0.1:9/ did not say who it is";
    assert!(ended.stderr.replace("\n           ", " ").contains(said), "{}", ended.stderr);
}
