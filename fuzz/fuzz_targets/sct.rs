#![no_main]
//! [`hammer_fuzz`]'s target `sct`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("sct", data);
});
