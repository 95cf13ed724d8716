//! The plain target.

use hammer_lab::{HttpLabHandle, HttpLabPlan};

use crate::client::{get, post};

#[tokio::test]
async fn the_plain_target_answers_with_its_bytes_and_counts() {
    let lab = HttpLabHandle::start(HttpLabPlan {
        body_size: hammer_values::ByteSize::from_bytes(300),
        ..HttpLabPlan::default()
    })
    .await
    .unwrap();
    assert_eq!(get(&lab.url).await.body.len(), 300);
    assert_eq!(post(&lab.url, "body").await.body.len(), 300);
    let stats = lab.stop();
    assert_eq!((stats.requests["get"][&200], stats.requests["post"][&200], stats.connections), (1, 1, 2));
}
