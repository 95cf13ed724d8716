#![no_main]
//! [`hammer_fuzz`]'s target `entry_and_proof`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("entry_and_proof", data);
});
