#![no_main]
//! [`hammer_fuzz`]'s target `rekor_bundle`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("rekor_bundle", data);
});
