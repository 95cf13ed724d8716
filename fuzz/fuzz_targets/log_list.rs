#![no_main]
//! [`hammer_fuzz`]'s target `log_list`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("log_list", data);
});
