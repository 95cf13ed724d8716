//! The messages of grpc.health.v1.

use hammer_messages::health::{HealthCheckRequest, HealthCheckResponse, ServingStatus};
use prost::Message as _;

#[test]
fn health_is_asked_for_by_name_and_answered_with_a_state() {
    assert_eq!(HealthCheckRequest { service: "a".to_owned() }.encode_to_vec(), b"\x0a\x01a");
    assert_eq!(HealthCheckRequest::default().encode_to_vec(), b"");
    let answer = HealthCheckResponse::decode(&b"\x08\x01"[..]).unwrap();
    assert_eq!(answer.status(), ServingStatus::Serving);
    assert_eq!(HealthCheckResponse::decode(&b"\x08\x02"[..]).unwrap().status(), ServingStatus::NotServing);
}
