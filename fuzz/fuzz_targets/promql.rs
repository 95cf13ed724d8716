#![no_main]
//! [`hammer_fuzz`]'s target `promql`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("promql", data);
});
