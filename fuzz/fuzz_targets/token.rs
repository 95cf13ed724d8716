#![no_main]
//! [`hammer_fuzz`]'s target `token`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("token", data);
});
