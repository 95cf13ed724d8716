#![no_main]
//! [`hammer_fuzz`]'s target `trusted_root`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("trusted_root", data);
});
