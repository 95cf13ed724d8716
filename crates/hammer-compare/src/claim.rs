//! What somebody says of two variants, computed again.

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::measured_run::MeasuredRun;
use crate::metric::Metric;
use crate::page::{Block, Page};
use crate::sample::Sample;
use crate::variant::Variant;

/// A sentence with a number, and what the number is of.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What it is of.
    pub name: String,
    /// The first quantity.
    pub a: Quantity,
    /// The second one, where the number is of two.
    #[serde(default)]
    pub b: Option<Quantity>,
    /// The number as it was said, with what it is: `46.9x`, `79 % less`, `sd 4.7`.
    pub said: Said,
    /// The users of two closed loops of which both quantities are response times.
    #[serde(default)]
    pub users: Option<f64>,
    /// The rates of these two, in a second.
    #[serde(default)]
    pub rates: Option<[f64; 2]>,
}

/// Numbers, or a figure of a variant's runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// These; several stand for their mean, unless it is said what is made of them.
    Numbers(Vec<f64>),
    /// Of the runs of the first variant, where it is the first quantity, and of the second one: milliseconds, or a second's rate.
    Figure(Metric),
}

/// A number as it was said.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    text: String,
    kind: SaidKind,
    number: f64,
    /// Digits behind the point.
    decimals: usize,
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SaidKind {
    /// `46.9x`: the second by the first.
    Times,
    /// `79 % less`: by how much of the first the second is less.
    Less,
    /// `12 % more`.
    More,
    /// `sd 4.7`: the sample standard deviation (by n-1) of the first.
    Deviation,
    /// `cv 7.0 %`: the same in parts of the mean.
    Variation,
    /// `mean 50`.
    Mean,
    /// `sum 0.0133`.
    Sum,
    /// `33 replicas`: so many of the first, rounded up, are the second.
    Replicas,
    /// `0.064 each`: the first by the second.
    Each,
    /// `931`: the first itself.
    Itself,
}

/// A claim with what comes of its quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedClaim {
    /// What it is of.
    pub name: String,
    /// As it was said.
    pub said: String,
    /// The same by its quantities, with a digit more than was said.
    pub found: String,
    /// Whether what was said is that, rounded.
    pub holds: bool,
    /// What else is to be known of it.
    pub beside: Option<String>,
}

/// Why a claim cannot be computed again: a fragment that completes "failed to ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// One quantity, of a number that is of two.
    #[error("check the claim `{0}`: it wants `b`, since what was said is of two quantities")]
    Alone(String),
    /// Too few numbers.
    #[error("check the claim `{0}`: a deviation is of two numbers at least")]
    Single(String),
    /// A figure of runs that were not given, or do not have it.
    #[error("check the claim `{name}`: the runs of variant {variant} have no {metric}")]
    NoFigure {
        /// The claim.
        name: String,
        /// The variant, from 1.
        variant: usize,
        /// The figure.
        metric: Metric,
    },
}

impl CheckedClaim {
    /// All of them as a page: how many hold, each with what comes of its quantities, and what else is to be known.
    pub fn page(all: &[Self]) -> Page {
        let slips = all.iter().filter(|claim| !claim.holds).count();
        let title = match slips {
            0 => format!("claims: all {} hold", all.len()),
            slips => format!("claims: {slips} of {} do not hold", all.len()),
        };
        let row = |claim: &Self| {
            let mark = if claim.holds { "holds" } else { "DOES NOT HOLD" };
            [&claim.name, &claim.said, &claim.found, mark].map(str::to_owned).to_vec()
        };
        let header = ["claim", "said", "found", ""].map(str::to_owned).to_vec();
        let beside =
            all.iter().filter_map(|claim| Some(format!("{}: {}", claim.name, claim.beside.as_ref()?)));
        let beside: Vec<String> = beside.collect();
        let table = Block::Table { header, rows: all.iter().map(row).collect() };
        let mut blocks = vec![Block::Heading(title), table];
        if !beside.is_empty() {
            blocks.push(Block::List(beside));
        }
        Page { blocks }
    }
}

impl Claim {
    /// The claim with what comes of its quantities; figures are those of the series of that name in each variant's runs.
    ///
    /// # Errors
    /// A quantity that is missing.
    pub fn checked(&self, variants: &[Variant], series: Option<&str>) -> Result<CheckedClaim, ClaimError> {
        let numbers = |quantity: &Quantity, place: usize| self.numbers(quantity, place, variants, series);
        let a = Sample::new(numbers(&self.a, 0)?);
        let b = self.b.as_ref().map(|b| numbers(b, 1)).transpose()?.map(Sample::new);
        let (first, second) = (a.mean().unwrap_or_default(), b.as_ref().and_then(Sample::mean));
        let of_two = || second.ok_or_else(|| ClaimError::Alone(self.name.clone()));
        let single = || ClaimError::Single(self.name.clone());
        let found = match self.said.kind {
            SaidKind::Times => of_two()? / first,
            SaidKind::Less => (1.0 - of_two()? / first) * 100.0,
            SaidKind::More => (of_two()? / first - 1.0) * 100.0,
            SaidKind::Deviation => a.standard_deviation().ok_or_else(single)?,
            SaidKind::Variation => a.variation().ok_or_else(single)? * 100.0,
            SaidKind::Mean | SaidKind::Itself => first,
            SaidKind::Sum => first * a.count() as f64,
            SaidKind::Replicas => (of_two()? / first).ceil(),
            SaidKind::Each => first / of_two()?,
        };
        let (kind, decimals) = (self.said.kind, self.said.decimals);
        // That of the page, which is of runs.
        let of_page = self.geometric(&a, b.as_ref());
        let page = of_page.filter(|of_page| self.said.is(*of_page) && !self.said.is(found));
        let page = page.map(|of_page| format!("by geometric means {}", kind.shown(of_page, decimals)));
        Ok(CheckedClaim {
            name: self.name.clone(),
            said: self.said.text.clone(),
            found: kind.shown(found, decimals),
            holds: self.said.is(found) || page.is_some(),
            beside: page.or_else(|| self.beside(first, second)),
        })
    }

    /// The same by geometric means, where it is a ratio of figures of runs.
    fn geometric(&self, a: &Sample, b: Option<&Sample>) -> Option<f64> {
        let (Quantity::Figure(_), Some(Quantity::Figure(_))) = (&self.a, &self.b) else { return None };
        let mean = |sample: &Sample| Some(sample.logarithms()?.mean()?.exp());
        let ratio = mean(b?)? / mean(a)?;
        match self.said.kind {
            SaidKind::Times => Some(ratio),
            SaidKind::Less => Some((1.0 - ratio) * 100.0),
            SaidKind::More => Some((ratio - 1.0) * 100.0),
            SaidKind::Each => Some(ratio.recip()),
            _ => None,
        }
    }

    fn numbers(
        &self,
        quantity: &Quantity,
        place: usize,
        variants: &[Variant],
        series: Option<&str>,
    ) -> Result<Vec<f64>, ClaimError> {
        let metric = match quantity {
            Quantity::Numbers(numbers) => return Ok(numbers.clone()),
            Quantity::Figure(metric) => *metric,
        };
        let of_run = |run: &MeasuredRun| {
            let mut own = run.series.iter().filter(|known| series.is_none_or(|series| known.path == series));
            let figure = own.next()?.figures.get(&metric).copied()?;
            Some(if metric == Metric::Rate { figure } else { figure / 1e6 })
        };
        let found = variants
            .get(place)
            .and_then(|variant| variant.runs.iter().map(of_run).collect::<Option<Vec<f64>>>());
        let name = self.name.clone();
        found.filter(|found| !found.is_empty()).ok_or(ClaimError::NoFigure {
            name,
            variant: place + 1,
            metric,
        })
    }

    /// What the ratio of two saturated closed loops says: their rates once more.
    fn beside(&self, first: f64, second: Option<f64>) -> Option<String> {
        let (users, [slow, fast]) = (self.users?, self.rates?);
        let (times, rates) = (second? / first, slow / fast);
        let is_repeated = (times / rates).ln().abs() <= MOST_APART.ln();
        is_repeated.then(|| {
            format!(
                "{users} users by {slow}/s and by {fast}/s are {:.1} and {:.1} ms: the ratio of response times says that of the rates once more ({rates:.1}x)",
                users / slow * 1e3,
                users / fast * 1e3
            )
        })
    }
}

impl Said {
    /// Whether `found` is that, rounded to as many digits; halves away from zero, within what a float leaves behind them.
    fn is(&self, found: f64) -> bool {
        let half = 0.5 * 10f64.powi(-i32::try_from(self.decimals).unwrap_or(i32::MAX));
        let sign = if self.number < 0.0 || (self.number == 0.0 && found < 0.0) { -1.0 } else { 1.0 };
        let beyond = (found - self.number) * sign;
        let least = if self.number == 0.0 { 0.0 } else { -half * (1.0 + HALF) };
        (least..half * (1.0 - HALF)).contains(&beyond)
    }
}

impl SaidKind {
    fn shown(self, found: f64, decimals: usize) -> String {
        if !found.is_finite() {
            return "no number".to_owned();
        }
        let number = match self {
            Self::Replicas => format!("{found:.0}"),
            // What is far less than what was said has digits of its own.
            _ if found != 0.0 && found.abs() < 0.5 * 10f64.powf(-(decimals as f64) - 1.0) => {
                format!("{found:.*}", (1.0 - found.abs().log10().floor()).min(MOST_DECIMALS) as usize)
            }
            _ => format!("{found:.*}", decimals + 1),
        };
        match self {
            Self::Times => format!("{number}x"),
            Self::Less => format!("{number} % less"),
            Self::More => format!("{number} % more"),
            Self::Deviation => format!("sd {number} (by n-1)"),
            Self::Variation => format!("cv {number} %"),
            Self::Mean => format!("mean {number}"),
            Self::Sum => format!("sum {number}"),
            Self::Replicas => format!("{number} replicas"),
            Self::Each => format!("{number} each"),
            Self::Itself => number,
        }
    }
}

impl std::str::FromStr for Said {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = text.replace(',', "");
        let plain = plain.trim();
        let before = |word: &str| plain.strip_prefix(word).map(|rest| rest.trim().trim_end_matches('%'));
        let behind = |word: &str| plain.strip_suffix(word).map(|rest| rest.trim().trim_end_matches('%'));
        let (kind, digits) = [
            (SaidKind::Deviation, before("sd ")),
            (SaidKind::Variation, before("cv ")),
            (SaidKind::Mean, before("mean ")),
            (SaidKind::Sum, before("sum ")),
            (SaidKind::Less, behind("less")),
            (SaidKind::More, behind("more")),
            (SaidKind::Replicas, behind("replicas")),
            (SaidKind::Each, behind("each")),
            (SaidKind::Times, behind("x")),
            (SaidKind::Itself, Some(plain)),
        ]
        .into_iter()
        .find_map(|(kind, digits)| Some((kind, digits?.trim())))
        .unwrap_or((SaidKind::Itself, plain));
        let refused = || format!("`{text}` says no number: expected one like {EXAMPLES}");
        let number = digits.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(refused)?;
        let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
        Ok(Self { text: text.to_owned(), kind, number, decimals })
    }
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(claim: D) -> Result<Self, D::Error> {
        Written::deserialize(claim)?.to_string().parse().map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(claim: D) -> Result<Self, D::Error> {
        match WrittenQuantity::deserialize(claim)? {
            WrittenQuantity::Several(numbers) => Ok(Self::Numbers(numbers)),
            WrittenQuantity::One(Written::Number(number)) => Ok(Self::Numbers(vec![number])),
            WrittenQuantity::One(Written::Text(text)) => {
                text.parse().map(Self::Figure).map_err(serde::de::Error::custom)
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenQuantity {
    Several(Vec<f64>),
    One(Written),
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

const EXAMPLES: &str =
    "46.9x, 79 % less, 12 % more, sd 4.7, cv 7 %, mean 50, sum 0.0133, 33 replicas, 0.064 each, 931";
/// Digits behind the point, however small a number is.
const MOST_DECIMALS: f64 = 12.0;
/// In parts of a half, what arithmetic moves it by.
const HALF: f64 = 1e-9;
/// As far apart two ratios that are one may be, for what is not in the rate.
const MOST_APART: f64 = 1.1;

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(claim: &str) -> CheckedClaim {
        serde_json::from_str::<Claim>(claim).unwrap().checked(&[], None).unwrap()
    }

    #[test]
    fn each_slip_of_the_published_comparison_is_found_and_what_is_right_is_not_accused() {
        for (claim, found) in [
            (r#"{"name":"backend CPU","a":0.05,"b":0.0103,"said":"97 % less"}"#, "79.4 % less"),
            (r#"{"name":"sd of P95, 2.x","a":[68,66,64,74,62],"said":"sd 4.7"}"#, "sd 4.60 (by n-1)"),
            (
                r#"{"name":"sd of P95, 3.x","a":[3121,3197,3116,3156,3101],"said":"sd 37"}"#,
                "sd 38.6 (by n-1)",
            ),
            (r#"{"name":"replicas","a":29,"b":931,"said":"32 replicas"}"#, "33 replicas"),
            (r#"{"name":"total CPU of 3.x","a":[0.0103,0.0030,0.0334],"said":"sum 0.0133"}"#, "sum 0.04670"),
        ] {
            let told = checked(claim);
            assert_eq!((told.holds, told.found.as_str()), (false, found), "{claim}");
        }
        for right in [
            r#"{"name":"P95","a":67,"b":3140,"said":"46.9x"}"#,
            r#"{"name":"P95 in short","a":67,"b":3140,"said":"47x"}"#,
            r#"{"name":"backend CPU, in the table","a":0.05,"b":0.0103,"said":"79 % less"}"#,
            r#"{"name":"variation","a":[68,66,64,74,62],"said":"cv 7 %"}"#,
            r#"{"name":"mean P95","a":[68,66,64,74,62],"said":"mean 67"}"#,
            r#"{"name":"CPU by rate","a":0.06,"b":0.931,"said":"0.064 each"}"#,
            r#"{"name":"rate","a":931,"said":931}"#,
            r#"{"name":"headroom","a":1,"b":1.5,"said":"50 % more"}"#,
        ] {
            let told = checked(right);
            assert!(told.holds, "{right}: {}", told.found);
        }
        let told = [
            checked(r#"{"name":"right","a":1,"b":2,"said":"2x"}"#),
            checked(r#"{"name":"wrong","a":1,"b":2,"said":"3x"}"#),
        ];
        let text = CheckedClaim::page(&told).text();
        assert!(text.starts_with("claims: 1 of 2 do not hold\n"), "{text}");
        assert!(text.contains("2.0x") && text.lines().last().unwrap().ends_with("DOES NOT HOLD"), "{text}");
        assert!(!checked(r#"{"name":"altered","a":67,"b":3140,"said":"46.8x"}"#).holds);
    }

    #[test]
    fn halves_are_rounded_away_from_zero_and_what_is_found_has_digits() {
        for (a, b, said, holds) in [
            ("2", "27", "13x", false),
            ("2", "27", "14x", true),
            ("2", "25", "12x", false),
            ("2", "25", "13x", true),
            ("1000", "1005", "1.00x", false),
            ("1000", "1005", "1.01x", true),
            ("8", "7", "12.5 % less", true),
            ("8", "7", "12 % less", false),
            ("8", "9", "-12.5 % less", true),
            ("8", "9", "-12 % less", false),
            ("8", "9", "-13 % less", true),
            ("100", "4", "0.0x", true),
            ("1", "0", "0x", true),
        ] {
            let told = checked(&format!(r#"{{"name":"x","a":{a},"b":{b},"said":"{said}"}}"#));
            assert_eq!(told.holds, holds, "{a} {b} {said}: {}", told.found);
        }
        let found = |claim: &str| checked(claim).found;
        assert_eq!(found(r#"{"name":"x","a":3140,"b":67,"said":"47x"}"#), "0.021x");
        assert_eq!(found(r#"{"name":"x","a":0,"b":67,"said":"47x"}"#), "no number");
    }

    /// The page has ratios of geometric means, which a claim about it may quote.
    #[test]
    fn the_ratio_of_the_page_is_not_refuted() {
        let variant = |label: &str, ms: [f64; 3]| {
            let run = |ms: &f64| {
                let figures = [(Metric::P95, ms * 1e6)].into();
                let series = crate::measured_run::MeasuredSeries { figures, ..Default::default() };
                MeasuredRun { series: vec![series], ..MeasuredRun::default() }
            };
            Variant { label: label.to_owned(), runs: ms.iter().map(run).collect(), ..Variant::default() }
        };
        // By means 2.33, by geometric ones 2.
        let variants = [variant("A", [1.0, 1.0, 1.0]), variant("B", [1.0, 2.0, 4.0])];
        let told = |said: &str| {
            let claim = format!(r#"{{"name":"x","a":"p95","b":"p95","said":"{said}"}}"#);
            serde_json::from_str::<Claim>(&claim).unwrap().checked(&variants, None).unwrap()
        };
        assert!(told("2.33x").holds && told("2.33x").beside.is_none());
        let page = told("2.00x");
        assert_eq!((page.holds, page.beside.as_deref()), (true, Some("by geometric means 2.000x")));
        assert!(told("100 % more").holds && !told("2.1x").holds);
    }

    #[test]
    fn a_ratio_of_saturated_closed_loops_says_their_rates_once_more() {
        let told =
            checked(r#"{"name":"average","a":52,"b":1690,"said":"32.5x","users":50,"rates":[931,29.05]}"#);
        assert!(told.holds);
        assert_eq!(
            told.beside.as_deref(),
            Some(
                "50 users by 931/s and by 29.05/s are 53.7 and 1721.2 ms: the ratio of response times says that of the rates once more (32.0x)"
            )
        );
        let told =
            checked(r#"{"name":"at one rate","a":52,"b":104,"said":"2x","users":50,"rates":[100,100]}"#);
        assert_eq!(told.beside, None);
    }

    #[test]
    fn what_cannot_be_computed_again_is_told() {
        let error =
            |claim: &str| serde_json::from_str::<Claim>(claim).unwrap().checked(&[], None).unwrap_err();
        assert_eq!(error(r#"{"name":"x","a":1,"said":"2x"}"#), ClaimError::Alone("x".to_owned()));
        assert_eq!(error(r#"{"name":"x","a":1,"said":"sd 2"}"#), ClaimError::Single("x".to_owned()));
        assert!(error(r#"{"name":"x","a":"p95","said":"2"}"#).to_string().contains("variant 1 have no p95"));
        for nonsense in [
            r#"{"name":"x","a":1,"said":"a lot"}"#,
            r#"{"name":"x","a":"p96","said":1}"#,
            r#"{"name":"x","said":1}"#,
        ] {
            assert!(serde_json::from_str::<Claim>(nonsense).is_err(), "{nonsense}");
        }
    }
}
