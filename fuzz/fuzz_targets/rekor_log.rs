#![no_main]
//! [`hammer_fuzz`]'s target `rekor_log`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("rekor_log", data);
});
