//! Bundles that lines write, and those that are verified.

use super::*;

#[test]
fn bundles_that_cosign_wrote_are_verified_offline_and_told() {
    let (v1, v2) = (recorded("cosign-bundle-rekor-v1.json"), recorded("cosign-bundle-rekor-v2.json"));
    let root = recorded("trusted_root.json");
    let on = ["sigstore", "verify-bundle", &v1, &v2, "--trusted-root", &root];
    let ended = hammer(&[on.as_slice(), &["--identity", "jdoe@redhat.com", "--json"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let said: Value = serde_json::from_str(&ended.stdout).unwrap();
    let told = |key: &str| -> Vec<Value> {
        said["bundles"].as_array().unwrap().iter().map(|bundle| bundle[key].clone()).collect()
    };
    assert_eq!(told("entry"), [json!("hashedrekord 0.0.1"), json!("hashedrekord 0.0.2")]);
    assert_eq!(told("signed_at"), [json!("2026-11-21T07:07:12.000Z"), json!("2026-11-21T07:08:35.000Z")]);
    let ended = hammer(&on);
    assert!(ended.stdout.starts_with("PASS, exit 0\nverified "), "{}", ended.stdout);
    assert!(ended.stdout.contains("by jdoe@redhat.com of http://127.0.0.1:18888"), "{}", ended.stdout);
}

/// The bundle that cosign wrote of Rekor v1, with another time than the log signed.
fn at_another_time() -> Value {
    let text = fs::read_to_string(recorded("cosign-bundle-rekor-v1.json")).unwrap();
    let mut bundle: Value = serde_json::from_str(&text).unwrap();
    bundle["verificationMaterial"]["tlogEntries"][0]["integratedTime"] = json!("1795244833");
    bundle
}

#[test]
fn a_bundle_that_does_not_hold_is_named_beside_one_that_does() {
    let folder = Folder::new();
    let (broken, garbage) = (folder.path("broken.json"), folder.path("garbage.json"));
    let v2 = recorded("cosign-bundle-rekor-v2.json");
    fs::write(&broken, at_another_time().to_string()).unwrap();
    fs::write(&garbage, "{").unwrap();
    let root = recorded("trusted_root.json");
    let ended = hammer(&["sigstore", "verify-bundle", &v2, &broken, &garbage, "--trusted-root", &root]);
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    for said in [
        "FAIL, exit 4\n",
        "cosign-bundle-rekor-v2.json: by jdoe",
        "broken.json: bad-set: ",
        "garbage.json: malformed-bundle: ",
    ] {
        assert!(ended.stdout.contains(said), "{said} is not in {}", ended.stdout);
    }
}

#[test]
fn a_file_that_is_no_bundle_at_all_is_a_mistake_and_not_a_promise_that_was_broken() {
    let folder = Folder::new();
    let root = recorded("trusted_root.json");
    for text in ["", "# Notes", "[]", "\0\u{1}"] {
        let file = folder.path("notes.json");
        fs::write(&file, text).unwrap();
        let ended = hammer(&["sigstore", "verify-bundle", &file, "--trusted-root", &root]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("{file}: it is no bundle")), "{}", ended.stderr);
    }
}

#[test]
fn a_bundle_that_does_not_hold_is_named_beside_one_that_cannot_be_looked_at() {
    let folder = Folder::new();
    let (broken, foreign) = (folder.path("broken.json"), folder.path("foreign.json"));
    let mut bundle = at_another_time();
    fs::write(&broken, bundle.to_string()).unwrap();
    bundle["verificationMaterial"]["tlogEntries"][0]["kindVersion"] =
        json!({ "kind": "intoto", "version": "0.0.2" });
    fs::write(&foreign, bundle.to_string()).unwrap();
    let root = recorded("trusted_root.json");
    let on = |bundles: &[&str]| {
        let rest = ["--trusted-root", root.as_str()];
        hammer(&[["sigstore", "verify-bundle"].as_slice(), bundles, &rest].concat())
    };
    let unknown = on(&[&foreign]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("entries of its kind"), "{}", unknown.stderr);
    for others in [["/nowhere/b.json", foreign.as_str()], [foreign.as_str(), "/nowhere/b.json"]] {
        let ended = on(&[&[broken.as_str()], others.as_slice()].concat());
        assert_eq!(ended.code, 4, "{}", ended.stderr);
        for said in [
            "FAIL, exit 4\n",
            "broken.json: bad-set: ",
            "unverified failed to ",
            "/nowhere/b.json",
            "foreign.json",
        ] {
            assert!(ended.stdout.contains(said), "{said} is not in {}", ended.stdout);
        }
    }
}

#[test]
fn what_keeps_a_bundle_from_being_looked_at_is_no_fault_of_it() {
    let (v1, root) = (recorded("cosign-bundle-rekor-v1.json"), recorded("trusted_root.json"));
    let missing = hammer(&["sigstore", "verify-bundle", "/nowhere/b.json", "--trusted-root", &root]);
    assert_eq!(missing.code, 2, "{}", missing.stdout);
    assert!(missing.stderr.contains("/nowhere/b.json"), "{}", missing.stderr);
    let no_root = hammer(&["sigstore", "verify-bundle", &v1, "--trusted-root", &v1]);
    assert_eq!(no_root.code, 2, "{}", no_root.stdout);
    assert!(
        no_root.stderr.contains("use --trusted-root") && no_root.stderr.contains("mediaType"),
        "{}",
        no_root.stderr
    );
}

#[test]
fn a_key_that_is_given_is_held_against_a_bundle_with_a_certificate_too() {
    let bundle = recorded("cosign-bundle-rekor-v2.json");
    let root = recorded("trusted_root.json");
    let unrelated = concat!(env!("CARGO_MANIFEST_DIR"), "/../hammer-tlog/testdata/openssl/p384.pem");
    let ended = hammer(&["sigstore", "verify-bundle", &bundle, "--trusted-root", &root, "--key", unrelated]);
    assert_eq!(ended.code, 4, "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("cosign-bundle-rekor-v2.json: another-key: "), "{}", ended.stdout);
}

/// The recorded trusted root with nothing under `key`.
fn root_without(folder: &Folder, key: &str) -> String {
    let mut root: Value =
        serde_json::from_str(&fs::read_to_string(recorded("trusted_root.json")).unwrap()).unwrap();
    root[key] = json!([]);
    folder.write(&format!("no-{key}.json"), &root.to_string())
}

#[test]
fn an_entry_of_no_log_that_the_trusted_root_knows_is_neither_accused_nor_believed() {
    let folder = Folder::new();
    let root = root_without(&folder, "tlogs");
    let broken = folder.write("broken.json", "{");
    for bundle in ["cosign-bundle-rekor-v1.json", "cosign-bundle-rekor-v2.json"] {
        let bundle = recorded(bundle);
        let on = ["sigstore", "verify-bundle", &bundle, "--trusted-root", &root];
        for more in [[].as_slice(), &["--json"]] {
            refused(
                &hammer(&[on.as_slice(), more].concat()),
                &[&bundle, "its entry cannot be verified without a log among the trusted root's `tlogs`"],
            );
        }
        let ended = hammer(&[on.as_slice(), &[broken.as_str()]].concat());
        assert_eq!(ended.code, 4, "{}", ended.stdout);
        let said = format!("unverified failed to verify {bundle}: its entry cannot be verified");
        assert!(ended.stdout.contains(&said), "{said} is not in {}", ended.stdout);
    }
}

#[test]
fn a_certificate_whose_scts_nobody_looked_at_is_said_to_be_one() {
    let folder = Folder::new();
    let bundle = recorded("cosign-bundle-rekor-v2.json");
    for (root, scts) in
        [(recorded("trusted_root.json"), "verified"), (root_without(&folder, "ctlogs"), "unverified")]
    {
        let on = ["sigstore", "verify-bundle", &bundle, "--trusted-root", &root];
        let ended = hammer(&on);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let told = ended.stdout.contains("; the SCTs of its certificate were not verified, since no CT log");
        assert_eq!(told, scts == "unverified", "{}", ended.stdout);
        let said: Value =
            serde_json::from_str(&hammer(&[on.as_slice(), &["--json"]].concat()).stdout).unwrap();
        assert_eq!(said["bundles"][0]["scts"], scts);
    }
}

/// `hammer sigstore verify-bundle` on bundles of the lab's own.
fn verified(lab: &Lab, bundles: &[&str], more: &[&str]) -> Ended {
    let on = ["sigstore", "verify-bundle", "--trusted-root", lab.at("trusted_root")];
    hammer(&[on.as_slice(), bundles, more].concat())
}

#[test]
fn a_line_leaves_the_bundle_of_a_file_that_either_rekor_logged_and_it_is_verified() {
    let lab = Lab::of(&[]);
    let (artifact, other) = (lab.folder.path("artifact"), lab.folder.path("other"));
    fs::write(&artifact, "what is signed").unwrap();
    fs::write(&other, "what is not").unwrap();
    for (flag, url, entry) in [
        ("--rekor", "rekor_url", "hashedrekord 0.0.1"),
        ("--rekor-tiles", "rekor_tiles_url", "hashedrekord 0.0.2"),
    ] {
        let bundle = lab.folder.path(&format!("{url}.sigstore.json"));
        let args =
            [flag, lab.at(url), "--token-file", lab.token(), "--bundle", &bundle, "--artifact", &artifact];
        let report = kept(&lab.sigstore("sign", &args));
        assert_eq!(report.totals.all.offered, 1);
        let by_kind = &report.promises.by_kind;
        assert!(by_kind.iter().any(|kind| kind.kind == "bundle" && kind.promises.kept == 1), "{by_kind:?}");
        let events = serde_json::to_string(&report.events).unwrap();
        assert!(events.contains("1 bundle is in "), "{events}");
        let ended = verified(&lab, &[&bundle], &["--artifact", &artifact, "--identity", "lab@hammer.test"]);
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains(entry) && !ended.stdout.contains("not at hand"), "{}", ended.stdout);
        let ended = verified(&lab, &[&bundle], &["--artifact", &other]);
        assert_eq!(ended.code, 4, "{}", ended.stdout);
        assert!(ended.stdout.contains("another-artifact"), "{}", ended.stdout);
    }
}

#[test]
fn a_line_attests_a_file_and_whoever_has_the_bundle_knows_of_which() {
    let lab = Lab::of(&[]);
    let (artifact, other) = (lab.folder.path("artifact"), lab.folder.path("other"));
    fs::write(&artifact, "what is attested").unwrap();
    fs::write(&other, "what is not").unwrap();
    for (flag, url, entry) in
        [("--rekor", "rekor_url", "dsse 0.0.1"), ("--rekor-tiles", "rekor_tiles_url", "hashedrekord 0.0.2")]
    {
        let bundle = lab.folder.path(&format!("{url}.sigstore.json"));
        let signed = [flag, lab.at(url), "--token-file", lab.token(), "--bundle", &bundle];
        let attested = ["--artifact", &artifact, "--attest", "--csr"];
        kept(&lab.sigstore("sign", &[signed.as_slice(), &attested].concat()));
        let ended = verified(&lab, &[&bundle], &["--artifact", &artifact, "--identity", "lab@hammer.test"]);
        assert!(ended.code == 0 && ended.stdout.contains(entry), "{}{}", ended.stdout, ended.stderr);
        let ended = verified(&lab, &[&bundle], &["--artifact", &other]);
        assert!(ended.code == 4 && ended.stdout.contains("another-artifact"), "{}", ended.stdout);
    }
    let ended = lab.sigstore("sign", &["--token-file", lab.token(), "--attest", "-q", "1", "--for", "1s"]);
    assert!(ended.code == 2 && ended.stderr.contains("--attest"), "{}", ended.stderr);
}

#[test]
fn a_folder_has_the_bundles_of_as_many_flows_as_are_wanted_with_what_they_signed() {
    let lab = Lab::of(&[]);
    let folder = lab.folder.path("bundles/");
    let args =
        ["--rekor", lab.at("rekor_url"), "--token-file", lab.token(), "--bundle", &folder, "--bundles", "3"];
    let report = kept(&lab.sigstore("sign", &[args.as_slice(), &["-q", "20", "--for", "1s"]].concat()));
    assert_eq!(report.totals.all.offered, 20);
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path().to_str().unwrap().to_owned());
    let bundles: Vec<String> = files.filter(|path| path.ends_with(".sigstore.json")).collect();
    assert_eq!(bundles.len(), 3);
    let ended = verified(&lab, &bundles.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains("not at hand"), "what was signed is beside each: {}", ended.stdout);
}

#[test]
fn what_cannot_make_a_bundle_is_refused_before_anything_is_sent() {
    let lab = Lab::of(&[]);
    let (file, artifact) = (lab.folder.path("b.json"), lab.folder.path("nothing"));
    let token = ["--token-file", lab.token()];
    let refused = |more: &[&str], said: &str| {
        let ended = lab.sigstore("sign", &[token.as_slice(), more].concat());
        assert!(ended.code == 2 && ended.stderr.contains(said), "{} {}", ended.code, ended.stderr);
    };
    refused(&["--bundle", &file], "it holds the entry of a log");
    let rekor = lab.at("rekor_url");
    refused(&["--rekor", rekor, "--bundle", &file, "--bundles", "2"], "a `file` has one bundle");
    refused(&["--rekor", rekor, "--bundle", "/nowhere/b.json"], "/nowhere/b.json");
    refused(&["--rekor", rekor, "--artifact", &artifact], &artifact);
}
