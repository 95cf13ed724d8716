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

/// A percentile that is no number was `beyond`, and one below zero 0 s.
#[test]
fn what_nobody_can_have_measured_is_refused_by_its_line() {
    let hey_line = HEY.lines().position(|line| line.trim().starts_with("95%")).unwrap();
    let hey = |time: &str| {
        let altered = |(index, line): (usize, &str)| match index == hey_line {
            true => format!("  95%% in {time} secs\n"),
            false => format!("{line}\n"),
        };
        HEY.lines().enumerate().map(altered).collect::<String>()
    };
    assert!(MeasuredRun::read(&hey("0.0700")).is_ok());
    let [k6, oha, wrk, csv] = OTHERS;
    for time in ["NaN", "-0.0700", "inf", "1e30"] {
        let why = MeasuredRun::read(&hey(time)).unwrap_err().to_string();
        assert!(
            why.contains(&format!("line {} is of another form", hey_line + 1)) && why.contains(time),
            "{why}"
        );
        let why = MeasuredRun::read(&csv.replace("0.2,0", &format!("{time},0"))).unwrap_err().to_string();
        assert!(why.contains("line 3 is of another form"), "{why}");
    }
    let wrk_line = wrk.lines().position(|line| line.trim().starts_with("50%")).unwrap();
    let value = wrk.lines().nth(wrk_line).unwrap().trim().trim_start_matches("50%").trim().to_owned();
    let why = MeasuredRun::read(&wrk.replacen(&value, "-3.00ms", 1)).unwrap_err().to_string();
    assert!(why.contains(&format!("line {} is of another form", wrk_line + 1)), "{why}");
    let negative = |text: &str, section: &str, key: &str| {
        let section = text.find(section).unwrap();
        let at = section + text[section..].find(key).unwrap() + key.len();
        let digits = at + text[at..].find(|letter: char| letter.is_ascii_digit()).unwrap();
        MeasuredRun::read(&format!("{}-{}", &text[..digits], &text[digits..])).unwrap_err().to_string()
    };
    let why = negative(oha, "\"latencyPercentiles\"", "\"p99\"");
    assert!(why.contains("its p99 is -0.00") && why.contains("nobody can have measured"), "{why}");
    let why = negative(k6, "\"http_req_duration\"", "\"avg\"");
    assert!(why.contains("its mean is -"), "{why}");
}
