#![no_main]
//! [`hammer_fuzz`]'s target `plan`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("plan", data);
});
