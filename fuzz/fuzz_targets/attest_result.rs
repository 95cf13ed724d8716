#![no_main]
//! [`hammer_fuzz`]'s target `attest_result`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("attest_result", data);
});
