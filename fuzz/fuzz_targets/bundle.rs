#![no_main]
//! [`hammer_fuzz`]'s target `bundle`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("bundle", data);
});
