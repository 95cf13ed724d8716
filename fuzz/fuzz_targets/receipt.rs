#![no_main]
//! [`hammer_fuzz`]'s target `receipt`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("receipt", data);
});
