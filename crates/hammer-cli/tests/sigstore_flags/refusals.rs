//! What is refused is named as whoever gave it wrote it.

use std::net::TcpListener;

use super::*;

/// Refused by that flag, for that reason, and in no word that only a plan has.
#[track_caller]
fn by_flag(ended: &Ended, flag: &str, why: &str) {
    refused(ended, &[&format!("failed to use {flag}: "), why]);
    for key in ["fulcio_chain", "rekor_tiles_key", "`rekor`", "`timestamp: true`", "serve.listen"] {
        assert!(!ended.stderr.contains(key), "{key} is in {}", ended.stderr);
    }
}

#[test]
fn servers_that_are_trusted_and_do_not_say_it_are_named_by_the_flag_that_is_missing() {
    let lab = Lab::of(&[]);
    let (fulcio, rekor, tiles) = (lab.at("fulcio_url"), lab.at("rekor_url"), lab.at("rekor_tiles_url"));
    let servers = ["--trust", "servers", "-q", "5", "--for", "1s"];
    let verify = ["sigstore", "verify", "--rekor", rekor];
    let no_fulcio = "failed to find the chain of Fulcio: the servers are to say it (trust: servers), and no URL of Fulcio is given";
    let ended = hammer(&[verify.as_slice(), &servers].concat());
    // Behind the line that says what is filled first.
    let said = ended.stderr.lines().last().unwrap();
    assert_eq!((ended.code, said), (2, format!("hammer: failed to use --fulcio: {no_fulcio}").as_str()));

    let on_tiles =
        ["sigstore", "sign", "--fulcio", fulcio, "--rekor-tiles", tiles, "--token-file", lab.token()];
    let no_key = "failed to find the key of Rekor v2: the servers are to say it (trust: servers), which Rekor v2 does not: a trusted root has it";
    by_flag(&hammer(&[on_tiles.as_slice(), &servers].concat()), "--trust", no_key);
}

#[test]
fn a_taken_address_of_the_issuer_is_named_by_what_says_it() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (own, other) = (format!("http://{address}"), "http://issuer.hammer.test");
    let lab = Lab::of(&[]);
    let why = format!("failed to listen on {address}: ");
    by_flag(&hammer(&["sigstore", "issuer", &own]), "URL", &why);
    by_flag(&hammer(&["sigstore", "issuer", other, "--listen", &address]), "--listen", &why);
    let load = ["-q", "5", "--for", "1s"];
    let by = |issuer: &[&str]| lab.sigstore("sign", &[issuer, &load].concat());
    by_flag(&by(&["--issuer", &own]), "--issuer", &why);
    by_flag(&by(&["--issuer", other, "--listen", &address]), "--listen", &why);

    for rotated in [json!(null), json!("2s")] {
        for (issuer, listen, key) in
            [(own.as_str(), json!(null), "issuer"), (other, json!(address), "listen")]
        {
            let identity = json!({ "issuer": issuer, "listen": listen, "rotate_every": rotated });
            let sigstore = json!({ "fulcio_url": lab.at("fulcio_url"), "trusted_root": lab.at("trusted_root"), "identity": identity });
            let sign = json!({ "rekor": "none", "timestamp": false });
            let workload = json!({ "name": "sign", "sigstore_sign": sign, "load": { "rate": "5/s" } });
            let plan = json!({
                "target": { "sigstore": sigstore },
                "workloads": [workload],
                "phases": { "measurement": "1s" },
            });
            let plan = lab.folder.write("plan.json", &plan.to_string());
            refused(&hammer(&["run", &plan]), &[&format!(": target.sigstore.identity.{key}: {why}")]);
        }
    }
}

#[test]
fn what_a_bundle_lacks_is_told_by_flags() {
    let lab = Lab::of(&[]);
    let bundle = lab.folder.path("b.json");
    let args = ["--token-file", lab.token(), "--bundle", &bundle];
    by_flag(
        &lab.sigstore("sign", &args),
        "--bundle",
        "it holds the entry of a log: give --rekor or --rekor-tiles",
    );
    let sign =
        ["sigstore", "sign", "--fulcio", lab.at("fulcio_url"), "--trusted-root", lab.at("trusted_root")];
    let tiles = ["--rekor-tiles", lab.at("rekor_tiles_url")];
    by_flag(
        &hammer(&[sign.as_slice(), &args, &tiles].concat()),
        "--bundle",
        "Rekor v2 does not say when something was signed: give --timestamp",
    );
    by_flag(
        &lab.sigstore("sign", &["--token-file", lab.token(), "--attest", "-q", "5", "--for", "1s"]),
        "--attest",
        "there is no log that it is an entry of: give --rekor or --rekor-tiles",
    );
}

#[test]
fn the_lab_wants_a_folder_for_its_files() {
    let folder = Folder::new();
    let file = folder.write("file", "kept");
    by_flag(
        &hammer(&["lab", "sigstore", "--out", &file]),
        "--out",
        &format!("a folder is wanted, and {file} is none"),
    );
    let below = format!("{file}/below");
    by_flag(
        &hammer(&["lab", "sigstore", "--out", &below]),
        "--out",
        &format!("failed to make the folder {below}: "),
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn the_help_of_the_lab_says_how_its_tokens_are_minted_and_that_works_as_it_stands() {
    let help = hammer(&["lab", "sigstore", "--help"]).stdout;
    let help: Vec<&str> = help.split_whitespace().collect();
    let help = help.join(" ");
    let (_, shown) = help.split_once("runs with this seed and `").unwrap();
    let (shown, _) = shown.split_once('`').unwrap();
    let lab = Lab::of(&["--seed", "4"]);
    let args: Vec<&str> = shown.split(' ').chain(["--seed", "4", "-q", "20", "--for", "500ms"]).collect();
    kept(&lab.sigstore("sign", &args));
}

#[test]
fn files_that_cannot_be_opened_have_their_flag() {
    let lab = Lab::of(&[]);
    let sign = |more: &[&str]| {
        lab.sigstore("sign", &[&["--token-file", lab.token(), "-q", "5", "--for", "1s"], more].concat())
    };
    let absent = "/no/such/folder/x.json";
    let unopened = format!("failed to open {absent}: No such file");
    by_flag(&sign(&["--events", absent]), "--events", &unopened);
    let root = lab.at("trusted_root");
    let (fulcio, token) = (lab.at("fulcio_url"), lab.token());
    let on = ["sigstore", "sign", "--fulcio", fulcio, "--trusted-root", root, "--token-file", token];
    by_flag(
        &hammer(&[on.as_slice(), &["-q", "5", "--for", "1s", "--out", absent]].concat()),
        "--out",
        &unopened,
    );

    let bundle = lab.folder.write("b.json", "{}");
    let unread = format!("failed to read {absent}: No such file");
    let verify = |more: &[&str]| {
        hammer(&[&["sigstore", "verify-bundle", bundle.as_str(), "--trusted-root", root], more].concat())
    };
    by_flag(&verify(&["--artifact", absent]), "--artifact", &unread);
    by_flag(&verify(&["--key", absent]), "--key", &unread);
}

#[test]
fn a_key_with_a_compressed_point_is_refused_as_that() {
    let folder = Folder::new();
    let key = folder.write("key.pem", COMPRESSED);
    let (bundle, root) = (recorded("cosign-bundle-rekor-v2.json"), recorded("trusted_root.json"));
    let ended = hammer(&["sigstore", "verify-bundle", &bundle, "--trusted-root", &root, "--key", &key]);
    by_flag(&ended, "--key", "its point is compressed");
    by_flag(&ended, "--key", "openssl ec -pubin -conv_form uncompressed");
}

/// A key of P-256, as `openssl ec -pubout -conv_form compressed` writes it.
const COMPRESSED: &str = "-----BEGIN PUBLIC KEY-----\nMDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgACy3my6Le0XB6q8/jO3coKyqpdh2sy\nj0v6KaLCXu6ALlE=\n-----END PUBLIC KEY-----\n";

#[test]
fn outputs_of_a_plan_are_named_by_their_keys() {
    let folder = Folder::new();
    for key in ["report", "events"] {
        let plan = json!({
            "target": { "url": "http://127.0.0.1:9" },
            "workloads": [{ "name": "web", "http": {}, "load": { "rate": "5/s" } }],
            "phases": { "measurement": "1s" },
            "output": { key: "/no/such/folder/x.json" },
        });
        let plan = folder.write("plan.json", &plan.to_string());
        let expected = format!("output.{key}: failed to open /no/such/folder/x.json: ");
        refused(&hammer(&["run", &plan]), &[&expected]);
    }
}

#[test]
fn a_number_is_quoted_as_it_was_typed() {
    let lab = Lab::of(&[]);
    let on = ["--rekor", lab.at("rekor_url"), "--token-file", lab.token()];
    for typed in ["99999999999999999999999", "1e3", "1.0", "18446744073709551616", "-4"] {
        let said = format!("`{typed}` is no whole number");
        for flag in ["--flows", "--users"] {
            let given = format!("{flag}={typed}");
            let ended = lab.sigstore("fill", &[on.as_slice(), &[&given]].concat());
            by_flag(&ended, flag, &said);
        }
        let root = ["--trusted-root", lab.at("trusted_root"), "-q", "5", "--for", "1s"];
        let fill = format!("--fill={typed}");
        let verify = ["sigstore", "verify", "--rekor", lab.at("rekor_url"), &fill];
        by_flag(&hammer(&[verify.as_slice(), &root].concat()), "--fill", &said);
    }
}
