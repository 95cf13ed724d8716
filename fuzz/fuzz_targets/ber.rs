#![no_main]
//! [`hammer_fuzz`]'s target `ber`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("ber", data);
});
