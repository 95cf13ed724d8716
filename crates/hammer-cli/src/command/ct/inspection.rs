//! What `ct audit` says at its end, in words or in JSON, whether it read the log's entries or looked up receipts.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use hammer_audit::{Trouble, future_head};
use hammer_core::clock::MonotonicClock;
use hammer_measure::{Now as _, peer_text, shown_lines};
use hammer_report::text::number::{bytes, grouped};
use hammer_report::{ExitCode, ReasonKind, rfc3339};
use hammer_tlog::logs::follow::Head;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::args::AuditArgs;
use crate::error::CliError;
use crate::output::standard::print;

/// A log that was looked at once, at the head that it had.
pub(super) struct Inspection<F> {
    /// Where it was read.
    place: String,
    /// The head; none where the log gave none.
    head: Option<Head>,
    /// The kind and the words of what is wrong with the head's time.
    misdated: Option<(&'static str, String)>,
    /// What ended it before it was done.
    ended: Option<Trouble>,
    /// Why there was no head, where the log is not the one that was named.
    hint: Option<String>,
    findings: F,
    cost: Cost,
}

/// What it took.
pub(super) struct Cost {
    pub(super) seconds: f64,
    pub(super) requests: u64,
    pub(super) bytes: u64,
}

/// What was found at the head, or how little where the inspection ended early.
pub(super) trait Findings {
    /// The version of the JSON.
    const SCHEMA: &'static str;
    /// How many faults the JSON names.
    const NAMED_IN_JSON: &'static str;

    /// What is said against the log, or against what could be found out about it.
    fn reason(&self) -> Option<ReasonKind>;

    /// What is printed between the head and what was read: names and values.
    fn lines(&self, cost: &Cost) -> Vec<(&'static str, String)>;

    /// The first `most` faults, each with how grave it is, and how many there are in all.
    fn faults(&self, most: usize) -> (Vec<(&'static str, String)>, u64);

    /// What cannot be told yet and is no fault; none where all was settled.
    fn unsettled(&self) -> Option<String> {
        None
    }

    /// What is the findings' own in the JSON; `broken` is kind and detail of the promises that the head broke, or what ended the inspection.
    fn json(&self, broken: Vec<(&str, String)>, cost: &Cost) -> Value;
}

impl Cost {
    /// Since `clock` started.
    pub(super) fn of(clock: &MonotonicClock, requests: u64, bytes: u64) -> Self {
        Self { seconds: clock.now().as_secs_f64(), requests, bytes }
    }
}

impl<F: Findings> Inspection<F> {
    /// What was found at `head`, made into findings; nothing was looked for where there was no head, of which a hint may say why.
    pub(super) fn new<T>(
        place: &str,
        (head, hint): (Result<Head, Trouble>, Option<String>),
        found: Option<Result<T, Trouble>>,
        findings: impl FnOnce(Option<T>) -> F,
        cost: Cost,
    ) -> Self {
        let (head, without_head) = parts(head);
        let (found, early) = found.map_or((None, None), parts);
        let place = peer_text(place);
        let (ended, misdated) = (without_head.or(early), None);
        Self { place, head, misdated, ended, hint, findings: findings(found), cost }
    }

    /// Holds the head's time against our clock, of a log whose own may be so far from it; instants are counted from an epoch in milliseconds
    /// since 1970.
    pub(super) fn dated(self, epoch_unix_ms: u64, skew: Duration) -> Self {
        let misdated = self.head.as_ref().and_then(|head| future_head(head, epoch_unix_ms, skew));
        Self { misdated, ..self }
    }

    /// Prints it; the exit code that follows.
    pub(super) fn print(&self, as_json: bool) -> Result<ExitCode, CliError> {
        let text = if as_json { format!("{}\n", self.json()) } else { self.text() };
        // What the log wrote is in it.
        print(io::stdout(), |out| out.write_all(shown_lines(&text).as_bytes()))?;
        Ok(self.exit_code())
    }

    fn exit_code(&self) -> ExitCode {
        let ended = self.ended.as_ref().map(|why| match why.breach_kind() {
            Some(_) => ReasonKind::PromiseBroken,
            None if self.head.is_none() && why.is_silence() => ReasonKind::NoAnswer,
            None => ReasonKind::NotBelievable,
        });
        let misdated = self.misdated.as_ref().map(|_| ReasonKind::PromiseBroken);
        ExitCode::of(ended.into_iter().chain(misdated).chain(self.findings.reason()))
    }

    /// Kind and detail of the promises that its time, and what ended it, broke.
    fn broken(&self) -> Vec<(&str, String)> {
        let of_end =
            self.ended.as_ref().and_then(|why| Some((why.breach_kind()?, format!("failed to {why}"))));
        self.misdated.clone().into_iter().chain(of_end).collect()
    }

    fn json(&self) -> Value {
        let mut json = self.findings.json(self.broken(), &self.cost);
        json["log"] = json!(self.place);
        json["schema"] = json!(F::SCHEMA);
        json["exit_code"] = json!(self.exit_code().number());
        json["head"] = json!(self.head.as_ref().map(head_json));
        json["ended"] = json!(self.ended.as_ref().map(|why| format!("failed to {why}")));
        json["hint"] = json!(self.hint);
        json["seconds"] = json!(self.cost.seconds);
        json["requests"] = json!(self.cost.requests);
        json["bytes"] = json!(self.cost.bytes);
        json
    }

    /// What is said first against the log, or against what could be found out about it, of how much.
    fn because(&self) -> Option<String> {
        let (faults, in_all) = self.findings.faults(SHOWN);
        let broken: Vec<String> =
            self.broken().iter().map(|(kind, detail)| format!("{kind}: {detail}")).collect();
        let ended = self.ended.as_ref().map(|why| format!("failed to {why}"));
        let grave = faults.iter().find(|(gravity, _)| *gravity == "BROKEN");
        let detail = |(_, detail): &(&str, String)| detail.clone();
        let of = in_all + broken.len() as u64;
        let told = broken.into_iter().next().or(grave.map(detail)).or(ended).or(faults.first().map(detail));
        let first = told.or_else(|| self.findings.unsettled())?;
        Some(if of > 1 { format!("{first} (the first of {})", grouped(of)) } else { first })
    }

    fn text(&self) -> String {
        let code = self.exit_code();
        let verdict = if code == ExitCode::Clean { "PASS" } else { "FAIL" };
        let because = self.because().map_or_else(String::new, |why| format!(": {why}"));
        let mut text = format!("{verdict}, exit {}{because}\n", code.number());
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<10} {value}");
        };
        line("log", &self.place);
        if let Some(head) = &self.head {
            let (size, signed) = (grouped(head.size), rfc3339(head.timestamp_ms));
            line("head", &format!("size {size}, root {}, signed {signed}", head.root));
        }
        self.findings.lines(&self.cost).iter().for_each(|(name, value)| line(name, value));
        let Cost { requests, bytes: read, .. } = self.cost;
        line("read", &format!("{} requests, {}", grouped(requests), bytes(read)));
        for (kind, detail) in self.broken() {
            line("BROKEN", &format!("{kind}: {detail}"));
        }
        let (faults, in_all) = self.findings.faults(SHOWN);
        faults.iter().for_each(|(gravity, detail)| line(gravity, detail));
        let more = in_all - faults.len() as u64;
        if more > 0 {
            line("", &format!("and {} more; --json names {}", grouped(more), F::NAMED_IN_JSON));
        }
        if let Some(why) = self.ended.as_ref().filter(|why| why.breach_kind().is_none()) {
            line("ended", &format!("failed to {why}"));
        }
        if let Some(hint) = &self.hint {
            line("hint", hint);
        }
        text
    }
}

/// Progress up to `length`, where it can be seen; `template` is indicatif's.
pub(super) fn progress(args: &AuditArgs, length: u64, template: &str) -> ProgressBar {
    if args.json || args.quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).expect("a constant template is valid");
    ProgressBar::new(length).with_style(style)
}

/// A tree head, as all commands on one log tell it.
pub(super) fn head_json(head: &Head) -> Value {
    json!({ "size": head.size, "root": head.root.to_string(), "timestamp_ms": head.timestamp_ms })
}

fn parts<T>(result: Result<T, Trouble>) -> (Option<T>, Option<Trouble>) {
    match result {
        Ok(found) => (Some(found), None),
        Err(why) => (None, Some(why)),
    }
}

const SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// So many faults, and nothing else.
    struct Faults(u64);

    impl Findings for Faults {
        const SCHEMA: &'static str = "test/1";
        const NAMED_IN_JSON: &'static str = "none";

        fn reason(&self) -> Option<ReasonKind> {
            (self.0 > 0).then_some(ReasonKind::PromiseBroken)
        }

        fn lines(&self, _cost: &Cost) -> Vec<(&'static str, String)> {
            vec![("looked", "everywhere".to_owned())]
        }

        fn faults(&self, most: usize) -> (Vec<(&'static str, String)>, u64) {
            ((0..self.0).take(most).map(|fault| ("BROKEN", fault.to_string())).collect(), self.0)
        }

        fn json(&self, _broken: Vec<(&str, String)>, _cost: &Cost) -> Value {
            json!({ "faults": self.0 })
        }
    }

    fn inspected(
        head: Result<Head, Trouble>,
        found: Option<Result<u64, Trouble>>,
    ) -> (u8, Inspection<Faults>) {
        let cost = Cost { seconds: 1.0, requests: 2, bytes: 3 };
        let inspection = Inspection::new(
            "http://log",
            (head, None),
            found,
            |faults: Option<u64>| Faults(faults.unwrap_or(0)),
            cost,
        );
        (inspection.exit_code().number(), inspection)
    }

    fn silence() -> Trouble {
        Trouble::Silent("checkpoint".to_owned())
    }

    #[test]
    fn silence_before_the_head_is_no_answer_and_after_it_nothing_that_can_be_believed() {
        assert_eq!(inspected(Ok(Head::empty()), Some(Ok(0))).0, 0);
        assert_eq!(inspected(Ok(Head::empty()), Some(Ok(1))).0, 4);
        assert_eq!(inspected(Ok(Head::empty()), Some(Err(silence()))).0, 5);
        let (code, inspection) = inspected(Err(silence()), None);
        assert_eq!((code, &inspection.json()["head"]), (3, &Value::Null));
        let text = inspection.text();
        let (verdict, ended) = text.split_once('\n').unwrap();
        assert!(verdict.starts_with("FAIL, exit 3: failed to read checkpoint: "), "{text}");
        let rest = "log        http://log\nlooked     everywhere\nread       2 requests, 3 B\nended      failed to read checkpoint: ";
        assert!(ended.starts_with(rest), "{text}");
    }

    #[test]
    fn faults_beyond_those_that_are_printed_are_counted() {
        let (_, inspection) = inspected(Ok(Head::empty()), Some(Ok(1_025)));
        let text = inspection.text();
        assert!(text.starts_with("FAIL, exit 4: 0 (the first of 1,025)\n"), "{text}");
        assert_eq!(text.matches("\nBROKEN ").count(), SHOWN);
        assert!(text.ends_with("\n           and 1,005 more; --json names none\n"), "{text}");
        assert_eq!(inspection.json()["faults"], 1_025);
    }
}
