#![no_main]
//! [`hammer_fuzz`]'s target `sigstore_bundle`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("sigstore_bundle", data);
});
