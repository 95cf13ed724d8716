#![no_main]
//! [`hammer_fuzz`]'s target `checkpoint`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("checkpoint", data);
});
