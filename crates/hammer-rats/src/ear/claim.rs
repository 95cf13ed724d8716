//! Claims of a result, as strictly as its specification writes them and as loosely as Veraison's own are written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::base64_text;
use crate::json_object::JsonObject;

/// Bytes of a claim that is Veraison's own; none where it is written in another way, since nobody promised how.
pub(super) fn bytes<'de, D: Deserializer<'de>>(claim: D) -> Result<Option<Vec<u8>>, D::Error> {
    Ok(text(claim)?.and_then(|text| base64_text::decode(&text)))
}

/// A text that may be anything else, as in the claims that a policy makes: those are none then.
fn text<'de, D: Deserializer<'de>>(claim: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Claim<'a> {
        #[serde(borrow)]
        Text(Cow<'a, str>),
        Other(IgnoredAny),
    }
    Ok(match Claim::deserialize(claim)? {
        Claim::Text(text) => Some(text),
        Claim::Other(IgnoredAny) => None,
    })
}

pub(super) fn owned_text<'de, D: Deserializer<'de>>(claim: D) -> Result<Option<String>, D::Error> {
    Ok(text(claim)?.map(Cow::into_owned))
}

/// Members of an object, of which no two have one name: whoever reads the first would believe another than whoever reads the last.
struct DistinctNames<T>(BTreeMap<String, T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for DistinctNames<T> {
    fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        object.deserialize_map(DistinctNamesVisitor(PhantomData))
    }
}

struct DistinctNamesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for DistinctNamesVisitor<T> {
    type Value = DistinctNames<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DistinctNames<T>, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, T>()? {
            if members.contains_key(&name) {
                return Err(serde::de::Error::custom(format_args!("duplicate member `{name}`")));
            }
            members.insert(name, value);
        }
        Ok(DistinctNames(members))
    }
}

pub(super) fn appraisals<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    object: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    let DistinctNames(members) = DistinctNames::<JsonObject<T>>::deserialize(object)?;
    Ok(members.into_iter().map(|(name, JsonObject(appraisal))| (name, appraisal)).collect())
}

/// A claim that is Veraison's own; none where it is written in another way, since nobody promised how.
pub(super) fn if_readable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    claim: D,
) -> Result<Option<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OwnClaim<T> {
        Readable(T),
        Other(IgnoredAny),
    }
    Ok(match OwnClaim::deserialize(claim)? {
        OwnClaim::Readable(claim) => Some(claim),
        OwnClaim::Other(IgnoredAny) => None,
    })
}

pub(super) fn claims_of_distinct_names<'de, D: Deserializer<'de>>(
    object: D,
) -> Result<Option<BTreeMap<String, i8>>, D::Error> {
    Option::<DistinctNames<i8>>::deserialize(object)
        .map(|members| members.map(|DistinctNames(members)| members))
}

/// A number that may have a fraction (RFC 7519 section 2): the whole second in which it lies.
pub(super) fn numeric_date<'de, D: Deserializer<'de>>(claim: D) -> Result<i64, D::Error> {
    seconds(&serde_json::Number::deserialize(claim)?)
}

/// The same where there may be none.
pub(super) fn numeric_date_if_any<'de, D: Deserializer<'de>>(claim: D) -> Result<Option<i64>, D::Error> {
    Option::<serde_json::Number>::deserialize(claim)?.as_ref().map(seconds).transpose()
}

fn seconds<E: serde::de::Error>(date: &serde_json::Number) -> Result<i64, E> {
    let seconds = date.as_i64().or_else(|| {
        let seconds = date.as_f64()?.floor();
        // What is beyond is no time, and would be cut off to one.
        (seconds.abs() < 9e15).then_some(seconds as i64)
    });
    seconds.ok_or_else(|| E::custom(format_args!("`{date}` is no time")))
}

pub(super) fn nonce<'de, D: Deserializer<'de>>(claim: D) -> Result<Option<Vec<u8>>, D::Error> {
    let Some(text) = Option::<Cow<'de, str>>::deserialize(claim)? else { return Ok(None) };
    let nonce = base64_text::decode(&text);
    nonce.map(Some).ok_or_else(|| serde::de::Error::custom("`eat_nonce` is no base64"))
}
