#![no_main]
//! [`hammer_fuzz`]'s target `record`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("record", data);
});
