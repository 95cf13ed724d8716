//! Minting allocates nothing once its buffers have grown. Alone in its process, since the count is of all threads.

use std::alloc::System;

use hammer_oauth::{ExtraClaim, IdentityClaims, IssuerKeys, MintScratch, TokenAlgorithm, TokenMinter};
use hammer_synth::Seed;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// More numbers than the blocks of nonces that a thread keeps.
const BEFORE: u64 = 8_192;

#[test]
fn a_token_is_minted_without_an_allocation() {
    let keys = IssuerKeys::derive(&Seed::from_u64(1), TokenAlgorithm::Es256, 0);
    let minter = TokenMinter::new("http://127.0.0.1:1", "sigstore", keys);
    let groups = serde_json::json!(["a", 1, { "b": null }]);
    let claims = IdentityClaims {
        subject: "jdoe",
        email: Some("jdoe@redhat.com"),
        issued_at: 1_795_243_690,
        expires_at: 1_795_247_290,
        extra: &[ExtraClaim { name: "groups", value: &groups }],
    };
    let (mut scratch, mut token) = (MintScratch::default(), String::new());
    let mut mint = |indices: std::ops::Range<u64>| {
        for index in indices {
            token.clear();
            minter.mint(index, &claims, &mut scratch, &mut token);
        }
    };
    mint(0..BEFORE);
    let region = Region::new(ALLOCATOR);
    mint(BEFORE..BEFORE + 1_000);
    let change = region.change();
    assert_eq!((change.allocations, change.reallocations), (0, 0));
}
