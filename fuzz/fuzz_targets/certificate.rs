#![no_main]
//! [`hammer_fuzz`]'s target `certificate`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("certificate", data);
});
