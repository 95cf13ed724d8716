//! Numbers on a page of Prometheus's text format (version 0.0.4).

use std::collections::BTreeMap;

/// The sum of the samples of `metric` that have all of `labels`; `None` where the page has no such sample, or one that is no number.
pub(crate) fn sum(page: &str, metric: &str, labels: &BTreeMap<String, String>) -> Option<f64> {
    let samples = page.lines().filter_map(|line| value(line, metric, labels));
    samples.reduce(|sum, value| sum + value).filter(|sum| sum.is_finite())
}

/// The value of a line that is such a sample.
fn value(line: &str, metric: &str, labels: &BTreeMap<String, String>) -> Option<f64> {
    let rest = line.trim_start().strip_prefix(metric)?;
    let rest = match rest.chars().next()? {
        '{' => matching(&rest[1..], labels)?,
        ' ' | '\t' if labels.is_empty() => rest,
        _ => return None,
    };
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// What stands behind the labels of a sample, where they are those asked for and perhaps others.
fn matching<'a>(mut rest: &'a str, labels: &BTreeMap<String, String>) -> Option<&'a str> {
    let mut matched = 0;
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        if let Some(behind) = rest.strip_prefix('}') {
            return (matched == labels.len()).then_some(behind);
        }
        let (name, behind) = rest.split_once('=')?;
        let (text, behind) = quoted(behind.trim_start())?;
        match labels.get(name.trim()) {
            Some(expected) if *expected == text => matched += 1,
            Some(_) => return None,
            None => {}
        }
        rest = behind;
    }
}

/// A text in quotes, with `\\`, `\"` and `\n` for what they stand for, and what is behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('"')?;
    let (mut content, mut is_escaped) = (String::new(), false);
    for (place, c) in text.char_indices() {
        match (is_escaped, c) {
            (false, '"') => return Some((content, &text[place + 1..])),
            (false, '\\') => is_escaped = true,
            (true, 'n') => (content, is_escaped) = (content + "\n", false),
            (_, c) => {
                content.push(c);
                is_escaped = false;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 12.75
process_cpu_seconds_total_of_another 900
requests{code=\"200\",path=\"/a,b}\"} 3 1395066363000
requests{ code=\"500\" , path=\"/\" } 4
requests{code=\"200\",path=\"C:\\\\\\\"x\\n\"} 1e2
odd NaN
broken{code=\"200\"
";

    fn labelled(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
        labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_metric_is_found_by_its_whole_name() {
        assert_eq!(sum(PAGE, "process_cpu_seconds_total", &BTreeMap::new()), Some(12.75));
        assert_eq!(sum(PAGE, "process_cpu_seconds", &BTreeMap::new()), None);
        assert_eq!(sum(PAGE, "nothing", &BTreeMap::new()), None);
    }

    #[test]
    fn samples_with_the_labels_are_added_up() {
        assert_eq!(sum(PAGE, "requests", &BTreeMap::new()), Some(107.0));
        assert_eq!(sum(PAGE, "requests", &labelled(&[("code", "200")])), Some(103.0));
        assert_eq!(sum(PAGE, "requests", &labelled(&[("code", "200"), ("path", "/a,b}")])), Some(3.0));
        assert_eq!(sum(PAGE, "requests", &labelled(&[("path", "C:\\\"x\n")])), Some(100.0));
        assert_eq!(sum(PAGE, "requests", &labelled(&[("verb", "GET")])), None);
        assert_eq!(sum(PAGE, "process_cpu_seconds_total", &labelled(&[("code", "200")])), None);
    }

    #[test]
    fn what_is_no_number_is_none() {
        assert_eq!(sum(PAGE, "odd", &BTreeMap::new()), None);
        assert_eq!(sum(PAGE, "broken", &BTreeMap::new()), None);
    }
}
