//! What of a component's use is told as observations of the run.

use hammer_core::observe::ObservationSink;
use hammer_measure::Nanos;

use super::meter::UsageMeter;

/// Tells the cores that were in use since the last look, and the memory now.
pub(super) fn tell(
    name: &str,
    last: Option<(Nanos, f64)>,
    (now, cpu): (Nanos, f64),
    memory: Option<u64>,
    sink: &ObservationSink,
) {
    if let Some((before, used)) = last.filter(|(before, _)| *before < now) {
        let cores = (cpu - used) / now.since(before).as_secs_f64();
        sink.observed(&format!("resources/{name}/cpu"), now, cores);
    }
    if let Some(bytes) = memory {
        sink.observed(&format!("resources/{name}/memory"), now, bytes as f64);
    }
}

/// Tells whether it was saturated so far, where the plan asks that.
pub(super) fn tell_saturation(name: &str, now: Nanos, meter: &UsageMeter, sink: Option<&ObservationSink>) {
    if let Some((saturation, sink)) = meter.saturation().zip(sink) {
        let reached = f64::from(u8::from(saturation.reached().is_some()));
        sink.observed(&saturated(name), now, reached);
    }
}

/// The observation that says whether a component was saturated: 1 from then on.
pub(super) fn saturated(name: &str) -> String {
    format!("resources/{name}/saturated")
}

/// Tells for how long a limit of CPU has held it back so far.
pub(super) fn tell_held_back(name: &str, (now, seconds): (Nanos, f64), sink: &ObservationSink) {
    sink.observed(&format!("resources/{name}/held_back"), now, seconds);
}
