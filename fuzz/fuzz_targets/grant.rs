#![no_main]
//! [`hammer_fuzz`]'s target `grant`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("grant", data);
});
