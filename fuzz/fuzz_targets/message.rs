#![no_main]
//! [`hammer_fuzz`]'s target `message`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("message", data);
});
