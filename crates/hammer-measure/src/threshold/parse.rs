//! The text of a threshold.

use hammer_values::{Rate, Share, TimeSpan, ValueError};

use crate::outcome::Fate;

use super::{Comparison, Count, Kind, Measure, Statistic, Threshold};

/// A threshold that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not `function(argument) comparison bound`.
    #[error("read `{0}`: expected `function(measure) < bound`, like `p99(response) < 500ms`")]
    Form(String),
    /// The function is unknown.
    #[error("read `{text}`: `{function}` is none of p50 to p99.99, mean, min, max, rate, share, count")]
    Function {
        /// The whole threshold.
        text: String,
        /// The function.
        function: String,
    },
    /// The function has no such measure.
    #[error("read `{text}`: `{function}` cannot be taken of `{measure}`; it takes {allowed}")]
    Measure {
        /// The whole threshold.
        text: String,
        /// The function.
        function: String,
        /// The measure.
        measure: String,
        /// What it takes.
        allowed: &'static str,
    },
    /// The bound is none of that measure.
    #[error("read `{text}`: {source}")]
    Bound {
        /// The whole threshold.
        text: String,
        /// What is wrong with the bound.
        source: ValueError,
    },
}

pub(super) fn threshold(text: &str) -> Result<Threshold, ParseError> {
    let form = || ParseError::Form(text.to_owned());
    let (function, rest) = text.split_once('(').ok_or_else(form)?;
    let (argument, rest) = rest.split_once(')').ok_or_else(form)?;
    let (comparison, bound) = comparison(rest.trim()).ok_or_else(form)?;
    let measure = measure(text, function.trim(), argument.trim())?;
    let bound = match measure {
        Measure::Duration(..) => bound.parse().map(|span: TimeSpan| span.duration().as_nanos() as f64),
        Measure::Rate(_) => bound.parse().map(Rate::per_second),
        Measure::Share(_) => bound.parse().map(Share::of_1),
        Measure::Count(_) => {
            number(bound).ok_or_else(|| ValueError::Form { text: bound.to_owned(), expected: "count" })
        }
    };
    let bound = bound.map_err(|source| ParseError::Bound { text: text.to_owned(), source })?;
    Ok(Threshold { text: text.trim().to_owned(), measure, comparison, bound })
}

fn comparison(rest: &str) -> Option<(Comparison, &str)> {
    const SYMBOLS: [(&str, Comparison); 5] = [
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("==", Comparison::Equal),
        ("<", Comparison::Below),
        (">", Comparison::Above),
    ];
    SYMBOLS.iter().find_map(|(symbol, comparison)| Some((*comparison, rest.strip_prefix(symbol)?.trim())))
}

fn measure(text: &str, function: &str, argument: &str) -> Result<Measure, ParseError> {
    let not_of = |allowed| ParseError::Measure {
        text: text.to_owned(),
        function: function.to_owned(),
        measure: argument.to_owned(),
        allowed,
    };
    let counted = || count(argument).ok_or_else(|| not_of(COUNTS));
    match function {
        "rate" => Ok(Measure::Rate(counted()?)),
        "share" => Ok(Measure::Share(counted()?)),
        "count" => Ok(Measure::Count(counted()?)),
        _ => {
            let statistic = statistic(function).ok_or_else(|| ParseError::Function {
                text: text.to_owned(),
                function: function.to_owned(),
            })?;
            let (kind, fate) = kind(argument).ok_or_else(|| not_of(DURATIONS))?;
            Ok(Measure::Duration(statistic, kind, fate))
        }
    }
}

fn statistic(function: &str) -> Option<Statistic> {
    match function {
        "mean" => Some(Statistic::Mean),
        "min" => Some(Statistic::Min),
        "max" => Some(Statistic::Max),
        _ => {
            let percent = number(function.strip_prefix('p')?)?;
            (percent > 0.0 && percent < 100.0).then_some(Statistic::Quantile(percent / 100.0))
        }
    }
}

fn kind(argument: &str) -> Option<(Kind, Option<Fate>)> {
    if let Some(fate) = argument.strip_prefix("response.") {
        return Some((Kind::Response, Some(Fate::from_name(fate)?)));
    }
    let kind = match argument {
        "response" => Kind::Response,
        "service" => Kind::Service,
        "dispatch_lag" => Kind::DispatchLag,
        "backlog_wait" => Kind::BacklogWait,
        "connection_wait" => Kind::ConnectionWait,
        "client_time" => Kind::ClientTime,
        "read_lag" => Kind::ReadLag,
        _ => return None,
    };
    Some((kind, None))
}

fn count(argument: &str) -> Option<Count> {
    Some(match argument {
        "offered" => Count::Offered,
        "dispatched" => Count::Dispatched,
        "completed" => Count::Completed,
        "resent" => Count::Resent,
        "redialled" => Count::Redialled,
        "made" => Count::Made,
        "kept" => Count::Kept,
        "broken" => Count::Broken,
        "pending" => Count::Pending,
        "unchecked" => Count::Unchecked,
        fate => Count::Of(Fate::from_name(fate)?),
    })
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

const DURATIONS: &str =
    "response, response.<fate>, service, dispatch_lag, backlog_wait, connection_wait, client_time, read_lag";
const COUNTS: &str = "offered, dispatched, completed, resent, redialled, accepted, refused, pushback, server_error, malformed, unreachable, timed_out, abandoned, shed, starved, or made, kept, broken, pending, unchecked";
