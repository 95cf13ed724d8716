#![no_main]
//! [`hammer_fuzz`]'s target `audit_bundle`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("audit_bundle", data);
});
