#![no_main]
//! [`hammer_fuzz`]'s target `report`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("report", data);
});
