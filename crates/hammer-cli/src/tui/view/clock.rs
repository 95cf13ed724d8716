//! A length of time as a clock says it.

use hammer_measure::Nanos;

/// `12s`, `2m05s`, `11h59m`.
pub(super) fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// Over which time figures are: `last 1s`, `last 250ms`. Intervals end a little early or late.
pub(super) fn latest(span: Nanos) -> String {
    if span < ABOUT_A_SECOND { format!("last {span}") } else { format!("last {}", clock(span.as_secs_f64())) }
}

const ABOUT_A_SECOND: Nanos = Nanos::from_millis(950);
