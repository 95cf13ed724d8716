//! Services that are asked what they are before a run.

use std::net::TcpListener;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::folder::Folder;
use crate::hammer::{Started, command};

#[test]
fn a_signal_ends_the_wait_for_a_service_that_does_not_say_what_it_is() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let plan = json!({
        "target": { "attest": { "provisioning_url": url, "verification_url": url } },
        "workloads": [{ "name": "provision", "attest_provision": {}, "load": { "users": 1 } }],
    });
    let folder = Folder::new();
    let started = Started::of(command(&["run", &folder.write("plan.yaml", &plan.to_string())]));
    let asked = silent.accept().unwrap();
    kill_process(Pid::from_child(&started.child), Signal::INT).unwrap();
    let ended = started.ended();
    assert_eq!((ended.code, ended.stdout.as_str()), (130, ""), "{}", ended.stderr);
    drop(asked);
}
