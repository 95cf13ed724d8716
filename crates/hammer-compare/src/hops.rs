//! What each link of a chain adds to response times, by runs of ever longer parts of it.

use serde::Serialize;

use crate::metric::Metric;
use crate::number::optional;
use crate::variant::Variant;

/// A chain by its links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopBreakdown {
    /// Of which figure.
    pub metric: Metric,
    /// Parts of the chain, the innermost first, each with one link more than the one before.
    pub links: Vec<HopLink>,
    /// What shares are of: the variant that was stated to be the whole, or the longest part.
    pub whole: String,
    /// Its figure, nanoseconds.
    #[serde(with = "optional")]
    pub whole_ns: Option<f64>,
    /// What the whole has beyond the longest part, nanoseconds; none where no variant was stated to be the whole.
    #[serde(with = "optional")]
    pub unaccounted_ns: Option<f64>,
}

/// A part of a chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopLink {
    /// The variant.
    pub label: String,
    /// The figure of that part, nanoseconds.
    #[serde(with = "optional")]
    pub figure_ns: Option<f64>,
    /// What it has beyond the part before it, nanoseconds: all of it for the first.
    #[serde(with = "optional")]
    pub added_ns: Option<f64>,
    /// That in parts of the whole.
    pub share: Option<f64>,
}

impl HopBreakdown {
    /// Breakdowns of the median and the 95th percentile over the series of that path, where some variant has them. `total` names the variant that is the whole;
    /// nothing where none is called that.
    pub(crate) fn of(variants: &[Variant], path: &str, total: Option<&str>) -> Option<Vec<Self>> {
        let whole = match total {
            Some(label) => variants.iter().find(|variant| variant.label == label)?,
            None => variants.last()?,
        };
        let is_link = |variant: &&Variant| total.is_none_or(|label| variant.label != label);
        let links: Vec<&Variant> = variants.iter().filter(is_link).collect();
        let all = BROKEN_DOWN.map(|metric| Self::of_metric(metric, &links, path, (whole, total.is_some())));
        Some(all.into_iter().filter(|own| own.links.iter().any(|link| link.figure_ns.is_some())).collect())
    }

    fn of_metric(
        metric: Metric,
        links: &[&Variant],
        path: &str,
        (whole, is_stated): (&Variant, bool),
    ) -> Self {
        let figure = |variant: &Variant| variant.sample(path, metric).mean();
        let less = |own: Option<f64>, before: Option<f64>| {
            own.zip(before).map(|(own, before)| own - before).filter(|added| !added.is_nan())
        };
        let whole_ns = figure(whole);
        let mut before = Some(0.0);
        let links: Vec<HopLink> = links
            .iter()
            .map(|variant| {
                let figure_ns = figure(variant);
                let added_ns = less(figure_ns, before);
                before = figure_ns;
                let share = added_ns.zip(whole_ns).map(|(added, whole)| added / whole);
                let share = share.filter(|share| share.is_finite());
                HopLink { label: variant.label.clone(), figure_ns, added_ns, share }
            })
            .collect();
        let unaccounted_ns = less(whole_ns, before).filter(|_| is_stated);
        Self { metric, links, whole: whole.label.clone(), whole_ns, unaccounted_ns }
    }
}

const BROKEN_DOWN: [Metric; 2] = [Metric::P50, Metric::P95];
