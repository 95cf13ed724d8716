use proptest::prelude::*;

use super::*;

/// Numbers of every length.
fn any_count() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32).prop_map(|(bits, shift)| bits >> shift)
}

/// What a scaled number stands for.
fn scaled(text: &str, units: &[(&str, f64)]) -> f64 {
    let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit)).expect("a unit");
    text.strip_suffix(unit).unwrap().replace(',', "").trim().parse::<f64>().unwrap() * factor
}

proptest! {
    #[test]
    fn a_grouped_number_is_its_digits_by_three(count in any_count()) {
        let text = grouped(count);
        prop_assert_eq!(text.replace(',', ""), count.to_string());
        let mut groups = text.split(',');
        prop_assert!((1..=3).contains(&groups.next().unwrap().len()), "{}", text);
        prop_assert!(groups.all(|group| group.len() == 3), "{}", text);
    }

    #[test]
    fn a_sign_stands_before_the_groups(count in any::<i64>()) {
        prop_assert_eq!(signed(count).replace(',', ""), count.to_string());
    }

    #[test]
    fn bytes_are_within_half_of_their_last_digit_and_short(count in any_count()) {
        let text = bytes(count);
        let printed = scaled(&text, &[(" kB", 1e3), (" MB", 1e6), (" GB", 1e9), (" B", 1.0)]);
        prop_assert!((printed - count as f64).abs() <= 0.051 * count as f64, "{count} as {text}");
        let number = text.split(' ').next().unwrap();
        prop_assert!(count >= 1_000_000_000_000 || number.len() <= 5, "{count} as {text}");
    }

    #[test]
    fn a_short_count_of_a_column_of_nine_leaves_a_gap(count in any_count().prop_map(|count| count % 1_000_000_000_000)) {
        let text = short(count);
        prop_assert!(text.len() <= 8, "{count} as {text}");
        let printed = scaled(&text, &[("M", 1e6), ("G", 1e9), ("", 1.0)]);
        prop_assert!((printed - count as f64).abs() <= 0.005 * count as f64, "{count} as {text}");
    }

    #[test]
    fn a_rate_is_within_half_of_its_last_digit(rate in 0.0..1e9) {
        let text = per_second(rate);
        let printed = scaled(&text, &[("/s", 1.0)]);
        let last_digit = if text.contains('.') { 0.1 } else { 1.0 };
        prop_assert!((printed - rate).abs() <= last_digit / 2.0 + 1e-9, "{rate} as {text}");
        prop_assert!(rate >= 99.95 || text.contains('.') || rate.fract() == 0.0, "{rate} as {text}");
    }
}

#[test]
fn numbers_are_grouped_by_three() {
    assert_eq!([0, 999, 1_000, 10_204, 1_234_567].map(grouped), ["0", "999", "1,000", "10,204", "1,234,567"]);
    assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    assert_eq!(
        [0, 1, 2_000].map(|count| plural(count, "promise")),
        ["0 promises", "1 promise", "2,000 promises"]
    );
    assert_eq!([-1_200, -1, 0, i64::MIN].map(signed), ["-1,200", "-1", "0", "-9,223,372,036,854,775,808"]);
}

#[test]
fn a_number_that_is_mostly_whole_prints_so() {
    assert_eq!([0.125, 1_204.0, -3.0, 0.0, -0.5].map(plain), ["0.125", "1,204", "-3", "0", "-0.5"]);
    assert_eq!(plain(9e15), "9000000000000000", "what a float no longer counts one by one is not grouped");
}

#[test]
fn rates_keep_a_decimal_while_they_are_small() {
    assert_eq!(
        [0.0, 0.25, 12.5, 99.94, 99.96, 100.0, 500.0, 21_645.4].map(per_second),
        ["0/s", "0.2/s", "12.5/s", "99.9/s", "100/s", "100/s", "500/s", "21,645/s"]
    );
}

#[test]
fn counts_and_bytes_stay_short() {
    assert_eq!(
        [999_999, 1_000_000, 9_999_999, 12_345_678, 12_000_000_000].map(short),
        ["999,999", "1.00M", "10.00M", "12.35M", "12.00G"]
    );
    assert_eq!([12, 1_500, 28_400_000, 3_000_000_000].map(bytes), ["12 B", "1.5 kB", "28.4 MB", "3.0 GB"]);
}

#[test]
fn what_rounds_up_to_a_thousand_is_one_of_the_next_unit() {
    assert_eq!(
        [999, 1_000, 999_949, 999_950, 999_949_999, 999_950_000].map(bytes),
        ["999 B", "1.0 kB", "999.9 kB", "1.0 MB", "999.9 MB", "1.0 GB"]
    );
}
