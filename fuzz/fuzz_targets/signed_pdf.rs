#![no_main]
//! [`hammer_fuzz`]'s target `signed_pdf`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("signed_pdf", data);
});
