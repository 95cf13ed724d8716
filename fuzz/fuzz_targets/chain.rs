#![no_main]
//! [`hammer_fuzz`]'s target `chain`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("chain", data);
});
