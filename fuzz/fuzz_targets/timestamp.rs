#![no_main]
//! [`hammer_fuzz`]'s target `timestamp`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("timestamp", data);
});
