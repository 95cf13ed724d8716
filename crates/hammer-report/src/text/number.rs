//! Numbers as the text prints them.

/// With commas: `10,204`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 promise`, `2,000 promises`.
pub fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// As [`grouped`], with a sign when negative.
pub(crate) fn signed(count: i64) -> String {
    let sign = if count < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(count.unsigned_abs()))
}

/// A rate: `500/s`, `21,645/s`; a decimal below 100: `12.5/s`.
pub fn per_second(rate: f64) -> String {
    if rate < 99.95 && rate.fract() != 0.0 {
        format!("{rate:.1}/s")
    } else {
        format!("{}/s", grouped(rate.round() as u64))
    }
}

/// A number that is mostly whole: `1,204`, `0.125`.
pub(crate) fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9e15 { signed(value as i64) } else { value.to_string() }
}

/// `28.4 MB`, in powers of ten.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        // What would round up to a thousand is one of the next unit.
        1_000..999_950 => format!("{:.1} kB", bytes as f64 / 1e3),
        999_950..999_950_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Bytes a second: `737.4 kB/s`.
pub(crate) fn bytes_per_second(rate: f64) -> String {
    format!("{}/s", bytes(rate.round() as u64))
}

/// A share: `98.3 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// In eight columns: `999,999`, then `1.23M`.
pub(crate) fn short(count: u64) -> String {
    match count {
        0..1_000_000 => grouped(count),
        1_000_000..1_000_000_000 => format!("{:.2}M", count as f64 / 1e6),
        _ => format!("{:.2}G", count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests;
