//! Plans of tests, and what becomes of them where they are refused.

use crate::folder::Folder;
use crate::hammer::{Ended, hammer};

pub(crate) const PLAN: &str = "\
target:
  url: http://127.0.0.1:9
workloads:
  - name: web
    http: {}
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

pub(crate) const CT_PLAN: &str = "\
target:
  log:
    submission_url: http://127.0.0.1:9/log
    public_key: MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqG51pjbkmFczWR9zrHs0sIVFt8ErBljJ8NcYFITKMsgMaf6+YjbKxA1OiWXWuLEnKTdx1KB6KqMcaDTzVbZ6Sg==
workloads:
  - name: submit
    ct_submit: {}
    load: { rate: 10/s }
phases:
  measurement: 500ms
";

/// Refused before the first request: exit 2, nothing on standard output, one message.
#[track_caller]
pub(crate) fn refused(ended: &Ended, parts: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("hammer: failed to "), "{}", ended.stderr);
    for part in parts {
        assert!(ended.stderr.contains(part), "no {part:?} in {}", ended.stderr);
    }
}

/// Carries out `plan` with these changes.
pub(crate) fn run(plan: &str, changes: &[&str]) -> Ended {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", plan);
    let mut args = vec!["run", &plan];
    changes.iter().for_each(|change| args.extend(["--set", change]));
    hammer(&args)
}
