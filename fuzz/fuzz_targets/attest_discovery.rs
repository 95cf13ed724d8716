#![no_main]
//! [`hammer_fuzz`]'s target `attest_discovery`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("attest_discovery", data);
});
