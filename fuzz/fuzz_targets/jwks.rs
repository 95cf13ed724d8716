#![no_main]
//! [`hammer_fuzz`]'s target `jwks`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("jwks", data);
});
