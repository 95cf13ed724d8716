//! What observers saw last, put together by what their names share, with units where a name says one.

use hammer_measure::Nanos;

use crate::report::{ObservationSeries, Report};
use crate::text::number::{bytes, plain};
use crate::text::observed;
use crate::text::page::Page;

/// Observations whose names start alike.
struct NameGroup<'a> {
    /// The words of the start.
    start: Vec<&'a str>,
    /// The words of each name, and what was seen under it.
    seen: Vec<(Vec<&'a str>, &'a ObservationSeries)>,
}

/// Adds the headlines, a line for each group, and one for what stands alone.
pub(super) fn render(page: &mut Page, report: &Report) {
    observed::headlines(page, report);
    let (groups, alone): (Vec<_>, Vec<_>) =
        groups(observed::others(report)).into_iter().partition(|group| group.seen.len() > 1);
    for group in groups {
        let told: Vec<String> =
            group.seen.iter().map(|(words, seen)| told(&words[group.start.len()..], seen)).collect();
        page.paragraph("observed", &format!("{}: {}", joined(&group.start), told.join(", ")));
    }
    let alone: Vec<String> =
        alone.iter().flat_map(|group| &group.seen).map(|(words, seen)| told(words, seen)).collect();
    if !alone.is_empty() {
        page.paragraph("observed", &alone.join(", "));
    }
}

fn groups<'a>(observations: impl Iterator<Item = &'a ObservationSeries>) -> Vec<NameGroup<'a>> {
    let mut groups: Vec<NameGroup<'a>> = Vec::new();
    for seen in observations {
        let words = words(&seen.name);
        match groups.iter_mut().find(|group| shared(&group.start, &words) >= whose(&words)) {
            Some(group) => {
                // A name of a group is more than the start of the others.
                let most = shared(&group.start, &words).min(words.len() - 1);
                group.start.truncate(most);
                group.seen.push((words, seen));
            }
            None => {
                // A name of one word is all start, and one that is empty has none.
                let start = words[..words.len().saturating_sub(1).max(1).min(words.len())].to_vec();
                groups.push(NameGroup { start, seen: vec![(words, seen)] });
            }
        }
    }
    groups
}

/// How many words a name has to share with those of its group: those of its target, and the one behind it.
fn whose(words: &[&str]) -> usize {
    words.iter().take_while(|word| word.ends_with('/')).count() + 1
}

/// The words of a name: targets with their slashes, then what underscores part.
fn words(name: &str) -> Vec<&str> {
    name.split_inclusive('/')
        .flat_map(|part| match part.ends_with('/') {
            true => vec![part],
            false => part.split('_').collect(),
        })
        .collect()
}

fn shared(one: &[&str], other: &[&str]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

fn told(words: &[&str], seen: &ObservationSeries) -> String {
    format!("{} {}", joined(words), figure(seen)).trim_start().to_owned()
}

/// The words of a name, a target before its slash.
fn joined(words: &[&str]) -> String {
    words.join(" ").replace("/ ", "/")
}

/// What was seen last, in the unit that the name says.
fn figure(seen: &ObservationSeries) -> String {
    let value = seen.last.value;
    let words: Vec<&str> = seen.name.split(['/', '_']).collect();
    let last = words.last().copied().unwrap_or_default();
    match value {
        value if value < 0.0 => plain(value),
        value if is_time(&words) => Nanos::from_secs_f64(value).to_string(),
        value if last == "bytes" => bytes(value.round() as u64),
        value if value.fract() != 0.0 => format!("{value:.3}"),
        value => plain(value),
    }
}

/// Whether a name of these words is of what is told in seconds. Whole words are compared: `user_agents` has no age.
fn is_time(words: &[&str]) -> bool {
    words.iter().any(|word| TIMES.contains(word))
        || words.windows(2).any(|pair| pair == TIME_TO)
        || words.last() == Some(&"s")
}

/// Words of which one in a name says that it is of a time.
const TIMES: [&str; 3] = ["delay", "seconds", "age"];
/// Two words that say so together.
const TIME_TO: [&str; 2] = ["time", "to"];
