#![no_main]
//! [`hammer_fuzz`]'s target `tuf_walk`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("tuf_walk", data);
});
