#![no_main]
//! [`hammer_fuzz`]'s target `attest_session`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("attest_session", data);
});
