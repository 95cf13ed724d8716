use super::*;

#[test]
fn numbers_are_grouped_by_three() {
    assert_eq!([0, 999, 1_000, 10_204, 1_234_567].map(grouped), ["0", "999", "1,000", "10,204", "1,234,567"]);
    assert_eq!([plural(1, "promise"), plural(2_000, "promise")], ["1 promise", "2,000 promises"]);
    assert_eq!(signed(-1_200), "-1,200");
    assert_eq!(plain(0.125), "0.125");
    assert_eq!(plain(1_204.0), "1,204");
}

#[test]
fn rates_keep_a_decimal_while_they_are_small() {
    assert_eq!(
        [0.0, 0.25, 12.5, 99.96, 500.0, 21_645.4].map(per_second),
        ["0/s", "0.2/s", "12.5/s", "100/s", "500/s", "21,645/s"]
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
