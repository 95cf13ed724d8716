#![no_main]
//! [`hammer_fuzz`]'s target `discovery`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("discovery", data);
});
