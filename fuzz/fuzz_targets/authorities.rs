#![no_main]
//! [`hammer_fuzz`]'s target `authorities`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("authorities", data);
});
