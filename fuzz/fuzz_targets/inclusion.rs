#![no_main]
//! [`hammer_fuzz`]'s target `inclusion`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("inclusion", data);
});
