#![no_main]
//! [`hammer_fuzz`]'s target `corpus`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("corpus", data);
});
