use super::*;

const SIZES: SampleSizes = SampleSizes { slowest: 3, uniform: 10 };

/// The finaliser of SplitMix64, by which draws are made.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn offer(samples: &mut SeriesSamples, seed: u64, seq: u64, response_time: Option<u64>) {
    let draw = mixed(mixed(seed).wrapping_add(seq));
    let candidate = SampleCandidate { seq, draw, response_time: response_time.map(Nanos) };
    samples.offer(candidate, |sample| sample.seq = seq);
}

/// Operations `seqs`, each of which takes as long as its number says.
fn samples_of(seed: u64, seqs: impl IntoIterator<Item = u64>) -> SeriesSamples {
    let mut samples = SeriesSamples::new(SIZES);
    seqs.into_iter().for_each(|seq| offer(&mut samples, seed, seq, Some(seq % 1_000)));
    samples
}

fn slowest(samples: &SeriesSamples) -> Vec<u64> {
    samples.slowest().iter().map(|sample| sample.seq).collect()
}

fn uniform(samples: &SeriesSamples) -> Vec<u64> {
    samples.uniform().iter().map(|(sample, _)| sample.seq).collect()
}

#[test]
fn the_slowest_are_kept_from_the_slowest_on_and_what_never_ended_before_all() {
    let mut samples = samples_of(1, 0..900);
    assert_eq!(slowest(&samples), [899, 898, 897]);
    offer(&mut samples, 1, 5_000, None);
    assert_eq!(slowest(&samples), [5_000, 899, 898]);
    (6_000..6_005).for_each(|seq| offer(&mut samples, 1, seq, None));
    assert_eq!(slowest(&samples), [5_000, 6_000, 6_001], "of those the first");
}

#[test]
fn a_tenth_of_all_places_falls_to_each_tenth_of_the_operations() {
    let (operations, seeds, bins) = (500u64, 2_000u64, 20usize);
    let mut found = vec![0u64; bins];
    for seed in 0..seeds {
        for seq in uniform(&samples_of(seed, 0..operations)) {
            found[seq as usize * bins / operations as usize] += 1;
        }
    }
    let expected = (seeds * SIZES.uniform as u64) as f64 / bins as f64;
    let chi_square: f64 = found.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    // Of 19 degrees of freedom 43.8 is exceeded once in a thousand.
    assert!(chi_square < 43.8, "{chi_square} {found:?}");
    assert_eq!(found.iter().sum::<u64>(), seeds * SIZES.uniform as u64);
}

#[test]
fn the_uniform_sample_does_not_ask_how_long_operations_took() {
    let mut quick = SeriesSamples::new(SIZES);
    (0..700).for_each(|seq| offer(&mut quick, 3, seq, (seq % 2 == 0).then_some(0)));
    assert_eq!(uniform(&quick), uniform(&samples_of(3, 0..700)));
}

#[test]
fn weights_add_up_to_all_that_ended_however_many_did() {
    for count in [0, 1, 7, 10, 11, 999, 12_345] {
        let samples = samples_of(9, 0..count);
        let weights: Vec<u64> = samples.uniform().iter().map(|(_, weight)| *weight).collect();
        assert_eq!(weights.iter().sum::<u64>(), count);
        assert_eq!(samples.population(), count);
        assert_eq!(weights.len() as u64, count.min(SIZES.uniform as u64));
        let (least, most) = (weights.iter().min(), weights.iter().max());
        assert!(least.zip(most).is_none_or(|(least, most)| most - least <= 1), "{weights:?}");
    }
}

#[test]
fn the_samples_of_shards_add_up_to_those_of_one_in_either_order() {
    let whole = samples_of(4, 0..3_000);
    let [one, other] =
        [samples_of(4, (0..3_000).step_by(3)), samples_of(4, (0..3_000).filter(|seq| seq % 3 > 0))];
    let mut merged = SeriesSamples::default();
    merged.merge(&one);
    merged.merge(&other);
    assert_eq!(merged, whole);
    let mut turned = other.clone();
    turned.merge(&one);
    assert_eq!(turned, whole);
}

#[test]
fn what_was_cleared_is_gone_and_its_places_are_used_again() {
    let mut samples = samples_of(2, 0..100);
    samples.clear();
    assert_eq!(samples, SeriesSamples::new(SIZES));
    assert!(slowest(&samples).is_empty() && uniform(&samples).is_empty());
    (0..5).for_each(|seq| offer(&mut samples, 2, seq, Some(seq)));
    assert_eq!(slowest(&samples), [4, 3, 2]);
    assert_eq!(uniform(&samples).len(), 5);
    assert_eq!(samples.slowest.slots.len(), SIZES.slowest);
}

#[test]
fn a_sample_of_none_keeps_none() {
    let mut samples = SeriesSamples::new(SampleSizes { slowest: 0, uniform: 1 });
    (0..50).for_each(|seq| offer(&mut samples, 2, seq, None));
    assert!(slowest(&samples).is_empty());
    assert_eq!(samples.uniform().iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), [50]);
}
