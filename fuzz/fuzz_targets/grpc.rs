#![no_main]
//! [`hammer_fuzz`]'s target `grpc`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hammer_fuzz::run("grpc", data);
});
