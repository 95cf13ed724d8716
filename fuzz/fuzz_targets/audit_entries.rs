#![no_main]
//! [`hammer_fuzz`]'s target `audit_entries`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("audit_entries", data);
});
