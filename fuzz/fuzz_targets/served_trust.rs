#![no_main]
//! [`hammer_fuzz`]'s target `served_trust`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("served_trust", data);
});
