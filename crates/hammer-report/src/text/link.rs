//! The link between hammer and its target, as text.

use hammer_measure::Nanos;

use crate::report::link::{LinkDirection, LinkFigures, LinkSource, LinkedOperation, bits_per_second};

use super::number::{bytes, bytes_per_second, percent};
use super::page::Page;

pub(super) fn render(page: &mut Page, link: &LinkFigures) {
    page.paragraph("link", &link.conclusion);
    let source = match link.source {
        LinkSource::Plan => "by the plan",
        LinkSource::Lab => "of the embedded target",
        LinkSource::Measured => "measured before the run",
    };
    let directions = [("up", &link.up), ("down", &link.down)];
    let directions =
        directions.into_iter().filter_map(|(way, direction)| Some(words(way, direction.as_ref()?)));
    let directions: Vec<String> = directions.collect();
    page.paragraph("", &format!("  {source}: {}", directions.join("; ")));
    link.operations.iter().for_each(|operation| page.paragraph("", &format!("  {}", alone(operation))));
}

fn words(way: &str, direction: &LinkDirection) -> String {
    let busy = direction.busy.map_or_else(String::new, |busy| format!(", {}", percent(busy)));
    format!(
        "{way} {} of {}{busy}",
        bytes_per_second(direction.bytes_per_s),
        bits_per_second(direction.bits_per_s)
    )
}

fn alone(operation: &LinkedOperation) -> String {
    let way = |way: &str, sent: u64, nanos: Option<u64>| {
        nanos.map(|nanos| format!("{} {way} take {} alone", bytes(sent), Nanos(nanos)))
    };
    let up = way("up", operation.bytes_out, operation.up_ns);
    let down = way("down", operation.bytes_in, operation.down_ns);
    format!("{}: {}", operation.path, up.into_iter().chain(down).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(bits_per_s: u64, busy: f64) -> LinkDirection {
        LinkDirection {
            bits_per_s,
            bytes_per_s: bits_per_s as f64 * busy / 8.0,
            busy: Some(busy),
            is_limit: busy >= 0.9,
        }
    }

    #[test]
    fn a_link_is_told_with_what_it_carried_and_what_an_operation_takes_of_it() {
        let mut page = Page::default();
        let operation = LinkedOperation {
            path: "sign/cades".to_owned(),
            bytes_out: 187_500,
            bytes_in: 2_500,
            up_ns: Some(250_000_000),
            down_ns: Some(400_000),
        };
        let figures = LinkFigures {
            source: LinkSource::Plan,
            up: Some(direction(6_000_000, 0.983)),
            down: Some(direction(50_000_000, 0.002)),
            operations: vec![operation],
            conclusion: "the uplink is the limit: busy 98.3 % of the measured time at 6 Mbit/s".to_owned(),
        };
        render(&mut page, &figures);
        let only_up = LinkedOperation { down_ns: None, ..figures.operations[0].clone() };
        render(
            &mut page,
            &LinkFigures { source: LinkSource::Measured, down: None, operations: vec![only_up], ..figures },
        );
        let text = page.into_string();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }
}
