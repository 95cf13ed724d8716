#![no_main]
//! [`hammer_fuzz`]'s target `names`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("names", data);
});
