#![no_main]
//! [`hammer_fuzz`]'s target `proc`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("proc", data);
});
