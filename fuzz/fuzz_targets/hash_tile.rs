#![no_main]
//! [`hammer_fuzz`]'s target `hash_tile`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("hash_tile", data);
});
