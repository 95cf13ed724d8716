#![no_main]
//! [`hammer_fuzz`]'s target `rekor_search`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("rekor_search", data);
});
