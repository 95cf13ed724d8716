//! Files that somebody altered: nothing panics, and what is read of one is compared and told as any other.

use hammer_compare::{Comparison, ComparisonConfig, ComponentUse, Hops, MeasuredRun, Metric, Variant};
use hammer_mutate::{Mutator, cases};

const HEY: &str = include_str!("../testdata/hey/2x-1.txt");
const OTHERS: [&str; 4] = [
    include_str!("../testdata/k6/stats.json"),
    include_str!("../testdata/oha/closed.json"),
    include_str!("../testdata/wrk/late.txt"),
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n0.1,0,0,0,0,0,200,1.0\n0.2,0,0,0,0,0,403,2.0\n",
];
const COMPONENTS: &str = "component,phase,cpu_cores,memory_bytes,limit_cores\nauth,idle,0.1,1000,2\nauth,load,0.5,2000,2\necho,load,1e300,3e9,\n";

/// Everything that is told of variants, which may be refused and never ends in a panic.
fn told(variants: &[Variant]) -> bool {
    let hops = Some(Hops::default());
    let sla = ["p95 < 100ms", "success > 99%"].map(|level| level.parse().unwrap()).to_vec();
    let config = ComparisonConfig { metric: Metric::P95, hops, sla, ..ComparisonConfig::default() };
    let Ok(comparison) = Comparison::of(variants.to_vec(), config) else { return false };
    let page = comparison.page(&[]);
    let (text, markdown, json) = (page.text(), page.markdown(), comparison.json(&[]));
    assert!(!text.contains('\u{1b}') && !markdown.contains('\u{1b}'), "{text}");
    assert!(!text.contains("NaN") && !text.contains("inf/s"), "{text}");
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
    true
}

#[test]
fn whatever_a_tool_is_said_to_have_printed_is_refused_or_compared() {
    let mut mutator = Mutator::new(1);
    let honest = MeasuredRun::read(HEY).unwrap();
    let mut compared = 0;
    for input in OTHERS.iter().chain([&HEY]) {
        for _ in 0..cases(1_000) {
            let altered = mutator.any(input.as_bytes(), HEY.as_bytes());
            let Ok(run) = MeasuredRun::read(&String::from_utf8_lossy(&altered)) else { continue };
            let variant = |run: &MeasuredRun| Variant { runs: vec![run.clone()], ..Variant::default() };
            compared += u32::from(told(&[variant(&honest), variant(&run)]));
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn an_altered_baseline_and_altered_components_are_refused_or_compared() {
    let mut mutator = Mutator::new(2);
    let honest = Variant {
        label: "kept".to_owned(),
        runs: vec![MeasuredRun::read(HEY).unwrap()],
        measured_components: ComponentUse::read(COMPONENTS).unwrap(),
    };
    assert!(told(&[honest.clone(), honest.clone()]));
    let kept = honest.to_baseline().unwrap();
    let mut compared = [0, 0];
    for _ in 0..cases(1_000) {
        let altered = mutator.any(kept.as_bytes(), COMPONENTS.as_bytes());
        if let Ok(variant) = Variant::from_baseline(&String::from_utf8_lossy(&altered)) {
            compared[0] += u32::from(told(&[variant, honest.clone()]));
        }
        let altered = mutator.bytes(COMPONENTS.as_bytes(), HEY.as_bytes());
        if let Ok(components) = ComponentUse::read(&String::from_utf8_lossy(&altered)) {
            let variant = Variant { measured_components: components, ..honest.clone() };
            compared[1] += u32::from(told(&[honest.clone(), variant]));
        }
    }
    assert!(compared[0] > 10 && compared[1] > 10, "{compared:?}");
}
