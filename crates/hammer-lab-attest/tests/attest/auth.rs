//! Who may provision, as it was recorded; and evidence in a wrapper.

use hammer_lab_attest::{AttestLabPlan, LabUser};
use hammer_tlog::encoding::base64;

use crate::{
    client::send,
    device::Device,
    exchange::normal,
    service::{EVIDENCE_TYPE, Service},
};

#[tokio::test]
async fn who_may_not_provision_is_told_as_recorded_and_verification_asks_nobody() {
    let recorded = include_str!("../../testdata/exchanges/auth-basic-tls.txt");
    let user = |name: &str, provisions| LabUser { name: name.into(), password: "secret".into(), provisions };
    let plan = AttestLabPlan { users: vec![user("a", true), user("b", false)], ..AttestLabPlan::default() };
    let service = Service::start(plan).await;
    service.clock_at("Sat, 21 Nov 2026 06:56:52 GMT");
    let device = Device::new("auth", 0);
    let url = service.url("/endorsement-provisioning/v1/submit");
    let recorded = recorded.replace('\r', "");
    let mut answers = recorded.split("HTTP/2 ").skip(1);
    for credentials in [None, Some("a:secret"), Some("a:wrong"), Some("b:secret")] {
        let basic = credentials.map(|credentials| format!("Basic {}", base64(credentials.as_bytes())));
        let mut headers = vec![("content-type", service.corim_type())];
        headers.extend(basic.as_deref().map(|basic| ("authorization", basic)));
        let answer = send(("POST", &url), &headers, service.corim(&device)).await;
        let (head, body) = answers.next().unwrap().split_once("\n\n").unwrap();
        let mut lines = head.lines();
        assert_eq!(answer.status.as_str(), lines.next().unwrap().trim());
        for (name, value) in
            lines.filter_map(|line| line.split_once(": ")).filter(|(name, _)| *name != "date")
        {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
        assert_eq!(normal(&answer.text()), normal(body.trim()));
    }
    assert_eq!(answers.next(), None);
    let (_, result) = service.verify(|nonce| device.token(nonce)).await;
    assert_eq!(result.status(), "affirming");
}

#[tokio::test]
async fn evidence_in_a_wrapper_is_that_which_it_holds() {
    let service = Service::of(hammer_lab_attest::Release::V2502).await;
    let device = Device::new("cmw", 0);
    service.provision(&device).await;
    let challenge = service.challenge().await;
    let token = base64(&device.token(&challenge.nonce)).replace('+', "-").replace('/', "_");
    let wrapped = format!("[\"{EVIDENCE_TYPE}\",\"{}\"]", token.trim_end_matches('='));
    let headers = [("content-type", "application/vnd.veraison.cmw")];
    let answer = send(("POST", &challenge.url), &headers, wrapped).await.json(200);
    assert_eq!(answer["evidence"]["type"], EVIDENCE_TYPE);
    let result = service.read(answer["result"].as_str().unwrap()).await;
    assert_eq!(result.status(), "affirming");
    let broken = send(("POST", &challenge.url), &headers, "[]").await.json(400);
    assert!(broken["detail"].as_str().unwrap().starts_with("could not unwrap the CMW: "));
}
