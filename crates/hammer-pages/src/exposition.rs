//! Numbers on a page of Prometheus's text format (version 0.0.4), read and written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a server that uses Prometheus's client says of its process: CPU seconds so far, and resident memory in bytes.
pub const CPU: &str = "process_cpu_seconds_total";
/// See [`CPU`].
pub const MEMORY: &str = "process_resident_memory_bytes";

/// What `hammer resources` says of each component: 1 where it is there, and 0 where it is not, and has no other sample.
pub const UP: &str = "hammer_component_up";

/// What `hammer resources` says of control groups besides: seconds for which a limit of CPU held their processes back.
pub const HELD_BACK: &str = "hammer_cpu_held_back_seconds_total";

/// The sum of the samples of `metric` that have all of `labels`; `None` where the page has no such sample, or one that is no number.
pub fn sum(page: &str, metric: &str, labels: &BTreeMap<String, String>) -> Option<f64> {
    let samples = page.lines().filter_map(|line| value(line, metric, labels));
    samples.reduce(|sum, value| sum + value).filter(|sum| sum.is_finite())
}

/// How many samples of `metric` have all of `labels`.
pub fn count(page: &str, metric: &str, labels: &BTreeMap<String, String>) -> usize {
    page.lines().filter_map(|line| value(line, metric, labels)).count()
}

/// A page that is being written.
#[derive(Debug, Default)]
pub struct WrittenPage(String);

impl WrittenPage {
    /// What follows are samples of that metric, which is a `counter` or a `gauge`; `help` is one line.
    pub fn metric(&mut self, name: &str, kind: &str, help: &str) {
        // A text takes whatever is written to it.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A sample. Labels may hold any text.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{before}{label}=\"{text}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }

    /// The page.
    pub fn into_text(self) -> String {
        self.0
    }
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
    fn what_is_written_is_read_whatever_its_labels_hold() {
        let mut page = WrittenPage::default();
        page.metric(CPU, "counter", "CPU seconds so far.");
        let odd = "a \\ \"quoted\"\nname, with } and =";
        page.sample(CPU, &[("name", odd), ("kind", "b")], 1.25);
        page.sample(CPU, &[("name", "other")], 1e-9);
        page.metric(MEMORY, "gauge", "Bytes.");
        page.sample(MEMORY, &[], 12_345_678_901.0);
        let page = page.into_text();
        assert_eq!(sum(&page, CPU, &labelled(&[("name", odd)])), Some(1.25), "{page}");
        assert_eq!(sum(&page, CPU, &labelled(&[("name", "other")])), Some(1e-9));
        assert_eq!(sum(&page, MEMORY, &BTreeMap::new()), Some(12_345_678_901.0));
        assert_eq!(
            (count(&page, CPU, &BTreeMap::new()), count(&page, CPU, &labelled(&[("kind", "b")]))),
            (2, 1)
        );
        assert!(page.starts_with("# HELP process_cpu_seconds_total CPU seconds so far.\n# TYPE process_cpu_seconds_total counter\n"), "{page}");
    }

    #[test]
    fn what_is_no_number_is_none() {
        assert_eq!(sum(PAGE, "odd", &BTreeMap::new()), None);
        assert_eq!(sum(PAGE, "broken", &BTreeMap::new()), None);
    }
}
