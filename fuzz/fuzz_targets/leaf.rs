#![no_main]
//! [`hammer_fuzz`]'s target `leaf`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("leaf", data);
});
