#![no_main]
//! [`hammer_fuzz`]'s target `log_root`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("log_root", data);
});
