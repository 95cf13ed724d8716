#![no_main]
//! [`hammer_fuzz`]'s target `attest_provisioning`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("attest_provisioning", data);
});
