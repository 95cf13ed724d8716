//! Whether what sent the load kept its own plan, run by run.

use std::collections::BTreeSet;

use hammer_report::text::number::grouped;

use crate::cell::{none, shown_of};
use crate::comparison::Comparison;
use crate::measured_run::GeneratorHealth;
use crate::metric::Metric;
use crate::page::Block;

impl Comparison {
    /// How late arrivals were in each run and what the generator cost, and what tools say nothing of that.
    pub(crate) fn generators(&self) -> Vec<Block> {
        let runs = || {
            self.variants.iter().flat_map(|variant| {
                (1..).zip(&variant.runs).map(|(place, run)| (variant.label.as_str(), place, run))
            })
        };
        let told = runs().filter_map(|(label, place, run)| Some((label, place, run.generator.as_ref()?)));
        let rows: Vec<Vec<String>> = told.clone().map(|(label, place, own)| row(label, place, own)).collect();
        let findings = told.flat_map(|(label, place, own)| {
            own.findings.iter().map(move |finding| format!("run {place} of {label}: {finding}"))
        });
        let mut lines: Vec<String> = findings.collect();
        let silent = runs().filter(|(_, _, run)| run.generator.is_none()).map(|(.., run)| run.tool.as_str());
        let silent: Vec<&str> = silent.collect::<BTreeSet<_>>().into_iter().collect();
        if !silent.is_empty() {
            lines.push(format!(
                "{} does not say whether it kept its own plan: what it was late itself is not known",
                silent.join(", ")
            ));
        }
        let mut blocks = vec![Block::Heading("the generator itself".to_owned())];
        if !rows.is_empty() {
            let header = ["", "health", "dispatch lag p99", "starved", "shed"].map(str::to_owned).to_vec();
            blocks.push(Block::Table { header, rows });
        }
        if !lines.is_empty() {
            blocks.push(Block::List(lines));
        }
        blocks
    }
}

fn row(label: &str, place: usize, own: &GeneratorHealth) -> Vec<String> {
    let count = |count: Option<u64>| count.map_or_else(none, grouped);
    vec![
        format!("run {place} of {label}"),
        if own.healthy { "healthy" } else { "NOT HEALTHY" }.to_owned(),
        own.dispatch_lag_p99_ns.map_or_else(none, |lag| shown_of(Metric::P99, lag)),
        count(own.starved),
        count(own.shed),
    ]
}
