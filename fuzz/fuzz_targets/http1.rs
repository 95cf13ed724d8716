#![no_main]
//! [`hammer_fuzz`]'s target `http1`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("http1", data);
});
