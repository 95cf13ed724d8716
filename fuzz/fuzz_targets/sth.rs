#![no_main]
//! [`hammer_fuzz`]'s target `sth`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("sth", data);
});
