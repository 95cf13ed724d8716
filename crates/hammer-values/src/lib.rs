//! The values that plans are written in: times, dates, rates, rates of links, sizes, percentages, shares, counts, weights, statuses, URLs,
//! paths, names, places in JSON and exponents, one or many of them; blocks whose keys agree with one another, and keys that have another name by now; labels of private keys. Each
//! value is what it may be once it was read, and prints as text that reads back as the same. Nothing here knows a plan, a
//! protocol or a file.

mod agreed;
mod bit_rate;
mod count;
mod date;
mod error;
mod json_place;
mod key_label;
mod non_empty;
mod one_or_many;
mod percent;
mod rate;
mod renamed;
mod request_path;
mod sample_share;
mod scalar;
mod service_url;
mod share;
mod size;
mod status;
mod time;
mod weights;
mod word;
mod zipf;

pub use agreed::{Agreed, KeyConflict, PlanBlock};
pub use bit_rate::BitRate;
pub use count::Count;
pub use date::Date;
pub use error::ValueError;
pub use json_place::JsonPlace;
pub use key_label::plain_key_labels;
pub use non_empty::NonEmpty;
pub use one_or_many::OneOrMany;
pub use percent::{Percent, WholePercent};
pub use rate::Rate;
pub use renamed::RenamedKey;
pub use request_path::RequestPath;
pub use sample_share::SampleShare;
pub use service_url::{ServiceUrl, broken_scheme, has_usable_port, without_user};
pub use share::Share;
pub use size::ByteSize;
pub use status::Status;
pub use time::TimeSpan;
pub use weights::{Weightless, Weights};
pub use word::Word;
pub use zipf::ZipfExponent;
