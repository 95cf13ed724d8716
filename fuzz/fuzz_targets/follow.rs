#![no_main]
//! [`hammer_fuzz`]'s target `follow`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("follow", data);
});
