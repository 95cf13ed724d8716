#![no_main]
//! [`hammer_fuzz`]'s target `key`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("key", data);
});
