#![no_main]
//! [`hammer_fuzz`]'s target `consistency`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("consistency", data);
});
