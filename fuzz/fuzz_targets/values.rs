#![no_main]
//! [`hammer_fuzz`]'s target `values`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("values", data);
});
