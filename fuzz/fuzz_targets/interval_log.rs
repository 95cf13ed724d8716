#![no_main]
//! [`hammer_fuzz`]'s target `interval_log`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("interval_log", data);
});
