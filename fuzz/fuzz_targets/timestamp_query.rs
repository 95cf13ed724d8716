#![no_main]
//! [`hammer_fuzz`]'s target `timestamp_query`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("timestamp_query", data);
});
