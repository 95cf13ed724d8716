#![no_main]
//! [`hammer_fuzz`]'s target `pki_answer`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("pki_answer", data);
});
