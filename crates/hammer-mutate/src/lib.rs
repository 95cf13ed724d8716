//! Bytes altered at random, from a seed: what a broken or hostile server may send instead of a good answer. Only
//! tests and fuzz targets use it. It never judges what a parser makes of the bytes, and the same seed alters alike.

mod bytes;
mod json;
mod rng;

pub use rng::Rng;

/// Alters inputs; what it does next follows from its seed and from what it did before.
#[derive(Clone, Debug)]
pub struct Mutator {
    rng: Rng,
}

impl Mutator {
    /// A mutator with that seed.
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed) }
    }

    /// Its draws, for choices of the caller's own.
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// `input` with one to four edits: bits, bytes, stretches, lengths and numbers, cuts, and parts of `other`.
    pub fn bytes(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut out = input.to_vec();
        for _ in 0..=self.rng.below(4) {
            bytes::edit(&mut self.rng, &mut out, other);
        }
        out
    }

    /// `input` with one to three edits by the tokens of JSON: values of other types and sizes, keys that are gone or
    /// there twice, deep nesting. Text without tokens is altered by bytes.
    pub fn json(&mut self, input: &[u8]) -> Vec<u8> {
        let mut out = input.to_vec();
        for _ in 0..=self.rng.below(3) {
            if !json::edit(&mut self.rng, &mut out) {
                bytes::edit(&mut self.rng, &mut out, input);
            }
        }
        out
    }

    /// [`Self::json`] where `input` looks like JSON, and not always then; else [`Self::bytes`].
    pub fn any(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let is_json = matches!(input.first(), Some(b'{' | b'['));
        if is_json && self.rng.below(3) > 0 { self.json(input) } else { self.bytes(input, other) }
    }
}

/// How many cases a test tries: `default`, or as many hundredths of it as `HAMMER_FUZZ_PERCENT` says.
pub fn cases(default: u64) -> u64 {
    let percent = std::env::var("HAMMER_FUZZ_PERCENT").ok().and_then(|text| text.parse().ok());
    default.saturating_mul(percent.unwrap_or(100)) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] =
        br#"{"tree_size":5,"timestamp":1795245491107,"list":["YWJj",null,true,{"a":-1.5e3}]}"#;

    #[test]
    fn the_same_seed_alters_alike_and_another_one_does_not() {
        let altered = |seed| {
            let mut mutator = Mutator::new(seed);
            (0..50).map(|_| mutator.any(ANSWER, b"other")).collect::<Vec<_>>()
        };
        assert_eq!(altered(1), altered(1));
        assert_ne!(altered(1), altered(2));
    }

    #[test]
    fn nearly_every_case_differs_from_its_input_and_from_the_others() {
        for alter in [Mutator::json, |mutator: &mut Mutator, input: &[u8]| mutator.bytes(input, b"other")] {
            let mut mutator = Mutator::new(3);
            let cases: std::collections::BTreeSet<_> =
                (0..1000).map(|_| alter(&mut mutator, ANSWER)).filter(|case| case != ANSWER).collect();
            assert!(cases.len() > 800, "{}", cases.len());
        }
    }

    #[test]
    fn whatever_it_is_given_it_returns_something() {
        let mut mutator = Mutator::new(4);
        for input in [b"".as_slice(), b"\"", b"\"\\", b"[", b"{\"", b"\xff\xfe", b"9", b"-", b"::::"] {
            for _ in 0..500 {
                let longest = mutator.json(input).len().max(mutator.bytes(input, b"").len());
                assert!(longest < 100_000);
            }
        }
    }

    #[test]
    fn a_share_of_json_stays_json_with_another_content() {
        let mut mutator = Mutator::new(5);
        let cases = (0..1000).map(|_| mutator.json(ANSWER));
        // Balanced braces at the ends are enough to tell that tokens, not bytes, were altered.
        let whole = cases.filter(|case| case.starts_with(b"{\"") && case.ends_with(b"}]}")).count();
        assert!(whole > 500, "{whole}");
    }
}
