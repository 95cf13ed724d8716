#![no_main]
//! [`hammer_fuzz`]'s target `exposition`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("exposition", data);
});
