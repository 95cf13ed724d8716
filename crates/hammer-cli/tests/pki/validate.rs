//! Signed files that are validated: given ones, which OpenSSL makes, and those that users have signed as they enter.

use std::path::Path;
use std::process::Command;

use hammer_lab_pki::PkiLabPlan;
use hammer_report::Report;

use crate::{Service, accepted};

/// Made, kept and broken of the promises of a kind.
fn counts(report: &Report, kind: &str) -> [u64; 3] {
    let mut kinds = report.promises.by_kind.iter();
    let found = kinds.find(|found| found.kind == kind).map(|found| &found.promises);
    found.map_or([0; 3], |found| [found.made, found.kept, found.broken])
}

fn openssl(folder: &Path, arguments: &str) {
    let run = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
    assert!(run.status.success(), "{arguments}: {}", String::from_utf8_lossy(&run.stderr));
}

/// A CMS with its document in it, and another of which a byte of the document is another.
fn write_files(folder: &Path) {
    std::fs::write(folder.join("document"), "what is signed ".repeat(100)).unwrap();
    openssl(
        folder,
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=signer -days 30 -keyout key -out certificate",
    );
    openssl(
        folder,
        "cms -sign -cades -binary -nodetach -md sha256 -in document -signer certificate -inkey key -outform DER -out good.p7s",
    );
    let mut file = std::fs::read(folder.join("good.p7s")).unwrap();
    let at = file.windows(4).position(|text| text == b"what").unwrap();
    file[at] ^= 1;
    std::fs::write(folder.join("bad.p7s"), file).unwrap();
}

#[test]
fn verdicts_on_given_files_are_held_against_what_they_are() {
    let service = Service::of(PkiLabPlan::default());
    write_files(service.folder.path());
    let load = ["--users", "2", "-z", "1s", "--tolerate-lag"];
    let run = |files: &[&str]| service.pki("validate", &[files, &load].concat()).report();
    let report = run(&["--valid", "good.p7s", "--invalid", "bad.p7s", "--altered", "50%"]);
    assert_eq!(report.verdict.exit_code, 0, "{:?}", report.verdict);
    for kind in ["valid", "altered", "invalid"] {
        let [made, kept, broken] = counts(&report, kind);
        assert!(made > 0 && kept == made && broken == 0, "{kind}: {made} {kept} {broken}");
    }
    assert_eq!(report.promises.all.made, accepted(&report, "validate/cades"));

    for (files, kind, fault) in [
        (["--valid", "bad.p7s"], "valid", "refused-valid"),
        (["--invalid", "good.p7s"], "invalid", "accepted-invalid"),
    ] {
        let report = run(&files);
        let [made, kept, broken] = counts(&report, kind);
        assert!(made > 0 && kept == 0 && broken == made, "{kind}: {made} {kept} {broken}");
        assert_eq!((report.verdict.exit_code, report.breaches[0].kind.as_str()), (4, fault));
        assert!(report.breaches[0].detail.contains(files[1]), "{:?}", report.breaches[0]);
    }
}

#[test]
fn users_have_documents_signed_as_they_enter_and_those_and_their_twins_validated() {
    let service = Service::of(PkiLabPlan::default());
    let load = ["--size", "4KiB", "--altered", "50%", "--users", "3", "-z", "1s", "--tolerate-lag"];
    let report = service.pki("validate", &load).report();
    assert_eq!(report.verdict.exit_code, 0, "{:?}", report.verdict);
    for kind in ["valid", "altered"] {
        let [made, kept, _] = counts(&report, kind);
        assert!(made > 0 && kept == made, "{kind}: {made} {kept}");
    }
    let stats = service.lab.stats();
    let of = |endpoint: &str| stats.requests[endpoint][&200];
    assert_eq!([of("cades-finish"), of("pades-finish")], [3, 3], "one file of each form a user");
    let validated = accepted(&report, "validate/cades") + accepted(&report, "validate/pades");
    assert_eq!((of("open"), report.promises.all.made), (validated, validated));
}

#[test]
fn a_file_that_is_none_is_named() {
    let service = Service::of(PkiLabPlan::default());
    std::fs::write(service.file("text"), "none").unwrap();
    std::fs::write(service.file("sequence"), [0x30, 3, 2, 1, 0]).unwrap();
    for (arguments, said) in [
        (&["--valid", "text"][..], "use text: failed to read the signed file: it is neither a PDF nor a CMS"),
        (&["--valid", "nowhere"], "read nowhere: No such file"),
        (&["--valid", "sequence", "--altered", "1%"], "use sequence: failed to alter it"),
    ] {
        let ended = service.pki("validate", &[arguments, &["--users", "1", "-z", "1s"]].concat());
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(said) && ended.stderr.contains("use --valid: "), "{}", ended.stderr);
    }
}
