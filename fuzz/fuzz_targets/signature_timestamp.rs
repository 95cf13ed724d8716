#![no_main]
//! [`hammer_fuzz`]'s target `signature_timestamp`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("signature_timestamp", data);
});
