//! The values that plans are written in, as text.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use hammer_ct::PlanDate;
use hammer_values::{
    ByteSize, Count, Date, Percent, Rate, ServiceUrl, Share, Status, TimeSpan, WholePercent, Word,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::structure::text;

/// Each line is refused by a value, or prints as what reads back equal, as text and in a plan.
pub(crate) fn values(data: &[u8]) -> bool {
    let text = text(data);
    // Not the first one that reads alone: all of them are asked.
    text.lines().map(line).filter(|is_value| *is_value).count() > 0
}

fn line(text: &str) -> bool {
    let printed = [
        prints_back::<ByteSize>(text),
        prints_back::<Count>(text),
        prints_back::<Date>(text),
        prints_back::<Percent>(text),
        prints_back::<PlanDate>(text),
        prints_back::<Rate>(text),
        prints_back::<ServiceUrl>(text),
        prints_back::<Share>(text),
        prints_back::<TimeSpan>(text),
        prints_back::<WholePercent>(text),
        prints_back::<Word>(text),
    ];
    let number = serde_json::from_str::<Value>(text).ok().filter(Value::is_number);
    for value in number.into_iter().chain([Value::from(text)]) {
        writes_back::<ByteSize>(&value);
        writes_back::<Count>(&value);
        writes_back::<Date>(&value);
        writes_back::<Percent>(&value);
        writes_back::<PlanDate>(&value);
        writes_back::<Rate>(&value);
        writes_back::<ServiceUrl>(&value);
        writes_back::<Share>(&value);
        writes_back::<Status<100, 599>>(&value);
        writes_back::<TimeSpan>(&value);
        writes_back::<WholePercent>(&value);
        writes_back::<Word>(&value);
    }
    printed.contains(&true)
}

fn prints_back<T: FromStr + Display + PartialEq + Debug>(text: &str) -> bool {
    let Ok(value) = text.parse::<T>() else { return false };
    let printed = value.to_string();
    let Ok(again) = printed.parse::<T>() else { panic!("{value:?} prints as {printed}, which is none") };
    assert_eq!(again, value, "{text} prints as {printed}");
    true
}

fn writes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &Value) {
    let Ok(read) = serde_json::from_value::<T>(value.clone()) else { return };
    let written = serde_json::to_value(&read).unwrap_or_default();
    let again = serde_json::from_value::<T>(written.clone());
    let again =
        again.unwrap_or_else(|error| panic!("{read:?} is written as {written}, which is none: {error}"));
    assert_eq!(again, read, "{value} is written as {written}");
}
