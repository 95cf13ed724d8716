#![no_main]
//! [`hammer_fuzz`]'s target `tuf_metadata`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("tuf_metadata", data);
});
