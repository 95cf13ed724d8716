//! Judges verdicts beside the load: whether they are what is true of the files that were shown.

use hammer_core::promise::{Fault, PromiseKind, Verdicts, Verifier};
use hammer_measure::Nanos;

use crate::verdict::Verdict;

/// What a file is, so that the service has to say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// All that is signed in it holds.
    Valid,
    /// It is the altered twin of one that is valid.
    Altered,
    /// It does not hold, as whoever gave it says.
    Invalid,
    /// The service can say neither, as whoever gave it says.
    Indeterminate,
}

impl Truth {
    /// All of them.
    const ALL: [Self; 4] = [Self::Valid, Self::Altered, Self::Invalid, Self::Indeterminate];
    /// Their names, in the order of the variants.
    pub(super) const NAMES: [&'static str; 4] = ["valid", "altered", "invalid", "indeterminate"];
}

impl From<Truth> for PromiseKind {
    fn from(truth: Truth) -> Self {
        Self(truth as u8)
    }
}

/// A verdict on its way to a verifier, as bytes, since promises wait in rings.
#[derive(Debug, Clone, Copy)]
pub(super) struct VerdictRecord<'a> {
    pub(super) truth: Truth,
    pub(super) verdict: &'a Verdict,
    /// Which file was shown, and what of it was altered.
    pub(super) shown: &'a str,
    /// The whole answer, which is evidence against a service that said something else.
    pub(super) answer: &'a [u8],
}

impl VerdictRecord<'_> {
    /// Replaces `out` by its bytes: the truth, the verdict, and the lengths of two texts and they; then the answer, of a verdict that is not
    /// the truth.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (verdict, why) = match self.verdict {
            Verdict::Valid => (0, ""),
            Verdict::Invalid(why) => (1, why.as_str()),
            Verdict::Indeterminate(why) => (2, why.as_str()),
        };
        out.clear();
        out.extend_from_slice(&[self.truth as u8, verdict]);
        for text in [self.shown, why] {
            out.extend_from_slice(&(text.len() as u32).to_be_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        if !matches!(fault(self.truth, self.verdict, self.shown), Judged::Kept) {
            out.extend_from_slice(self.answer);
        }
    }
}

/// Judges on a thread of its own.
pub(super) struct VerdictVerifier;

enum Judged {
    Kept,
    Unverified(String),
    Broken(Fault),
}

/// What is wrong with a verdict on a file.
fn fault(truth: Truth, verdict: &Verdict, shown: &str) -> Judged {
    let broken = |kind, detail: String| Judged::Broken(Fault::new(kind, detail));
    match (truth, verdict) {
        (Truth::Valid, Verdict::Valid)
        | (Truth::Altered | Truth::Invalid, Verdict::Invalid(_))
        | (Truth::Indeterminate, Verdict::Indeterminate(_)) => Judged::Kept,
        (Truth::Valid, Verdict::Invalid(why)) => {
            broken("refused-valid", format!("the service calls {shown} invalid: {why}"))
        }
        (Truth::Altered, Verdict::Valid) => {
            broken("accepted-altered", format!("the service calls {shown} valid"))
        }
        (Truth::Invalid, Verdict::Valid) => {
            broken("accepted-invalid", format!("the service calls {shown} valid"))
        }
        (Truth::Indeterminate, Verdict::Valid) => {
            broken("determined", format!("the service calls {shown} valid"))
        }
        (Truth::Indeterminate, Verdict::Invalid(why)) => {
            broken("determined", format!("the service calls {shown} invalid: {why}"))
        }
        // It says that it lacks something, which may be so: neither is it right, nor did it take the one for the other.
        (_, Verdict::Indeterminate(why)) => Judged::Unverified(format!(
            "the service cannot say whether {} files are valid: {why}",
            name(truth)
        )),
    }
}

fn name(truth: Truth) -> &'static str {
    Truth::NAMES[truth as usize]
}

/// The record that was written by [`VerdictRecord::write`], but for the answer.
fn read(bytes: &[u8]) -> Option<(Truth, Verdict, &str)> {
    fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (text, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        Some((str::from_utf8(text).ok()?, rest))
    }
    let (&[truth, verdict], rest) = bytes.split_first_chunk()?;
    let truth = *Truth::ALL.get(usize::from(truth))?;
    let (shown, rest) = text(rest)?;
    let (why, _) = text(rest)?;
    let verdict = match verdict {
        0 => Verdict::Valid,
        1 => Verdict::Invalid(why.to_owned()),
        _ => Verdict::Indeterminate(why.to_owned()),
    };
    Some((truth, verdict, shown))
}

impl Verifier for VerdictVerifier {
    fn check(&mut self, seq: u64, bytes: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        // Records are this file's own.
        let Some((truth, verdict, shown)) = read(bytes) else { return };
        match fault(truth, &verdict, shown) {
            Judged::Kept => verdicts.kept(truth.into()),
            Judged::Unverified(why) => verdicts.unverified(truth.into(), &why),
            Judged::Broken(fault) => verdicts.broken(truth.into(), seq, fault, Some(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of each verdict on each kind of file, as it is told behind its way through bytes.
    #[test]
    fn a_verdict_that_is_not_the_truth_is_broken_and_none_is_unchecked() {
        let verdicts = [
            Verdict::Valid,
            Verdict::Invalid("bad".to_owned()),
            Verdict::Indeterminate("no chain".to_owned()),
        ];
        let told = |truth, verdict: &Verdict| {
            let mut bytes = vec![9];
            VerdictRecord { truth, verdict, shown: "a.p7s", answer: b"answer" }.write(&mut bytes);
            let (read_truth, read_verdict, shown) = read(&bytes).unwrap();
            assert_eq!((read_truth, &read_verdict, shown), (truth, verdict, "a.p7s"));
            match fault(read_truth, &read_verdict, shown) {
                Judged::Kept => {
                    assert!(!bytes.ends_with(b"answer"));
                    "kept"
                }
                Judged::Unverified(why) => {
                    assert!(why.contains("no chain"), "{why}");
                    "unverified"
                }
                Judged::Broken(fault) => {
                    assert!(bytes.ends_with(b"answer") && fault.detail.contains("a.p7s"), "{}", fault.detail);
                    fault.kind
                }
            }
        };
        let table = Truth::ALL.map(|truth| [0, 1, 2].map(|place| told(truth, &verdicts[place])));
        assert_eq!(
            table,
            [
                ["kept", "refused-valid", "unverified"],
                ["accepted-altered", "kept", "unverified"],
                ["accepted-invalid", "kept", "unverified"],
                ["determined", "determined", "kept"],
            ]
        );
    }
}
