#![no_main]
//! [`hammer_fuzz`]'s target `signing_config`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("signing_config", data);
});
